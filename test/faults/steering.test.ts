import { describe, expect, it } from 'vitest'
import { emptyConversation, fold } from '../../src/core/model/conversation.ts'
import type { StoredEvent } from '../../src/core/model/event.ts'
import { inLongRun } from '../support/children.ts'
import { fault } from '../support/faults.ts'
import type { Answer, ModelRequest } from '../support/provider.ts'
import { TOKENS } from '../support/server.ts'
import { Scene } from '../support/turn-scene.ts'
import type { Story } from '../support/turn-story.ts'

const REQUEST = 'Do it.'
/** A busy machine does not lose it: a model call that is repeated would change the story. */
const CHILD_LEASE_MS = 3_000
const ref = { tenant: 'local', conversation: 'c1' }

/** One message is there before the first model call, one comes during it, two during the last. */
const STORY: Story = {
  body: { message: REQUEST, toolset: 'task_list' },
  steps: [],
  commits: [
    'message_added',
    'step_finished',
    'tool_called',
    'tool_answered',
    'message_added',
    'step_finished',
    'message_added turn_finished turn_started',
    'message_added',
    'step_finished',
    'message_added turn_finished',
  ],
  tasks: [],
}

/** Where a process dies: at every commit, or around the ones that deliver what came during a model call. */
const EVERY = STORY.commits.flatMap((line, index) =>
  (['before', 'after'] as const).map(when => [when, index + 1, line] as const),
)
const POINTS = inLongRun(
  EVERY,
  EVERY.filter(([when, nth]) => nth === 5 || nth === 7 || (nth === 6 && when === 'before')),
)

const usersIn = ({ messages }: ModelRequest): string[] =>
  messages.flatMap(({ role, content }) => (role === 'user' ? [content ?? ''] : []))

/** Sends a message as a page does that repeats what had no answer: the text is the key. */
const send = ({ turns }: Scene, text: string) => turns.person.sendMessage('c1', text, text)

/** What the model answers follows from what it is told, however often it is asked. */
const answering =
  (scene: Scene) =>
  async (request: ModelRequest): Promise<Answer> => {
    if (usersIn(request).includes('Third')) return 'Heard.'
    if (!request.messages.some(({ role }) => role === 'tool')) {
      await send(scene, 'Second')
      return { calls: [{ tool: 'lookup' }] }
    }
    await send(scene, 'Third')
    await send(scene, 'Fourth')
    return 'Done.'
  }

/** Waits until nothing runs any more; then all was heard, once and in order, and nothing waits. */
async function check({ turns }: Scene, texts: readonly string[]): Promise<readonly StoredEvent[]> {
  const end = new AbortController()
  let state = emptyConversation('c1')
  for await (const { events } of turns.door.tail(ref, { signal: end.signal })) {
    state = fold(state, events)
    // The commit that ends a turn starts the next one, if there is one.
    if (!events.some(({ type }) => type === 'turn_finished') || state.running_turn !== null) continue
    end.abort()
    break
  }
  const log = await turns.log()
  const heard = log.flatMap(({ type, data }) => {
    if (type === 'turn_started') return [data.message]
    return type === 'message_added' && data.role === 'user' && !data.synthetic ? [data.text] : []
  })
  expect(heard).toEqual(texts)
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  expect(usersIn(turns.provider.asked.at(-1)?.request ?? { model: '', messages: [] })).toEqual(texts)
  expect((await turns.person.session('c1')).queued).toEqual([])
  return log
}

describe.concurrent('a process that dies while it drives a turn that a person steers', () => {
  fault('kill -9 between the steps of a message to the agent')

  const dies = (when: 'before' | 'after', nth: number, line: string, store: 'sqlite' | 'postgres' = 'sqlite') =>
    Scene.play(
      STORY,
      async scene => {
        scene.turns.provider.script(answering(scene))
        await scene.start()
        await send(scene, 'First')
        const child = scene.child({ leaseMs: CHILD_LEASE_MS, endAt: { when, nth, signal: 'SIGKILL' } })
        expect((await child.ended).signal).toBe('SIGKILL')
        expect(child.lines.find(each => each.startsWith('at '))).toBe(`at ${line}`)
        await scene.takeOver()
        await check(scene, [REQUEST, 'First', 'Second', 'Third', 'Fourth'])
      },
      store,
    )

  it.each(POINTS)('%s commit %i (%s): each message is heard once, and none is lost', dies)

  it.each(inLongRun(EVERY, []))('%s commit %i (%s), on PostgreSQL', (when, nth, line) =>
    dies(when, nth, line, 'postgres'),
  )

  it.each(['before', 'after'] as const)('%s the end of a turn that was stopped for a message', when =>
    Scene.play(STORY, async scene => {
      scene.turns.provider.script(request =>
        usersIn(request).includes('Now') ? 'Heard.' : { text: 'I was going to ', hangs: true },
      )
      const reader = await scene.start()
      const line = 'message_added turn_finished turn_started'
      const child = scene.child({ leaseMs: CHILD_LEASE_MS, endAt: { when, nth: 1, line, signal: 'SIGKILL' } })
      await reader.until(() => reader.asides('text_delta', 'text_snapshot').length > 0)
      const { message } = await send(scene, 'Now')
      await scene.turns.person.sendMessageNow('c1', message.message_id)
      expect((await child.ended).signal).toBe('SIGKILL')
      await scene.takeOver()
      const log = await check(scene, [REQUEST, 'Now'])
      expect(log.filter(({ type }) => type === 'turn_stop_requested')).toHaveLength(1)
    }),
  )

  it.each(['before', 'after'] as const)(
    '[HT44] %s a message is stored: the same request again has it heard once',
    when =>
      Scene.play(STORY, async scene => {
        scene.turns.provider.script([{ text: 'Hm ', hangs: true }])
        const reader = await scene.start()
        const endAt = { when, nth: 1, line: 'message_queued', signal: 'SIGKILL' } as const
        const child = scene.child({ leaseMs: CHILD_LEASE_MS, tokens: TOKENS, endAt })
        const url = (await child.line(line => line.startsWith('url '))).slice(4)
        await reader.until(() => reader.asides('text_delta', 'text_snapshot').length > 0)
        const lost = fetch(new URL('/api/sessions/c1/messages', url), {
          method: 'POST',
          headers: {
            authorization: `Bearer ${TOKENS.person}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify({ message_id: 'First', text: 'First' }),
        })
        await expect(lost).rejects.toThrow()
        await child.ended
        await send(scene, 'First')
        scene.turns.provider.script(['Heard.'])
        await scene.takeOver()
        await check(scene, [REQUEST, 'First'])
      }),
  )
})
