import { describe, expect, it } from 'vitest'
import { openAiTools } from '../../toolsets/formats.ts'
import { toolsets } from '../../toolsets/index.ts'
import type { ToolsetName } from '../../domain/policy.ts'
import { ASSESSOR } from '../assessor.ts'
import { type Message, type Prompt, think } from './think.ts'

const STEPS = 'Read the report. Write a summary. Send it.'
const user = (text: string): Message => ({ role: 'user', text })
const answer = (tool: string, result: unknown): Message => ({ role: 'tool', tool, result })
const toolsOf = (toolset: ToolsetName): Prompt['tools'] =>
  openAiTools(toolsets[toolset]).map(({ function: { name, description } }) => ({ name, description, schema: {} }))
const echo: Prompt['tools'][number] = {
  name: 'fixture__echo',
  description: 'Says the text again.',
  schema: { properties: { text: { type: 'string' } }, required: ['text'] },
}
const add: Prompt['tools'][number] = {
  name: 'fixture__add',
  description: 'Adds two numbers.',
  schema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
}

interface Scene {
  readonly toolset?: ToolsetName
  readonly now?: string
  readonly settled?: readonly string[]
  readonly more?: Prompt['tools']
}

/** The reply to these messages. */
function thought(messages: readonly Message[], { toolset = 'runsheet', now, settled = [], more = [] }: Scene = {}) {
  const digest = [
    '## Where the plan stands',
    ...(settled.length > 0 ? ['Settled:', ...settled.map(line => `- ${line}`)] : []),
    ...(now === undefined ? [] : ['Now:', `- ${now}`]),
  ]
  const system = now === undefined && settled.length === 0 ? 'You are careful.' : digest.join('\n')
  return think({ system, messages, tools: [...toolsOf(toolset), ...more] })
}

describe('the demo model', () => {
  it.each([
    ['runsheet', 'plan', { tasks: [{ title: 'Read the report' }, { title: 'Write a summary' }, { title: 'Send it' }] }],
    [
      'task_manager',
      'add_task',
      { tasks: [{ title: 'Read the report' }, { title: 'Write a summary' }, { title: 'Send it' }] },
    ],
    [
      'turn_todos',
      'create_todo',
      { items: [{ title: 'Read the report' }, { title: 'Write a summary' }, { title: 'Send it' }] },
    ],
    ['manage_todos', 'manage_todos', { add: ['Read the report', 'Write a summary', 'Send it'] }],
  ] as const)('[MO4] plans with %s', (toolset, tool, input) => {
    const { text, call } = thought([user(STEPS)], { toolset })
    expect(text).toBe('I see 3 steps and propose them as a plan.')
    expect(call).toEqual({ tool, input })
  })

  it.each([
    ['runsheet', '4 Read it', 'update', { id: 4 }],
    ['task_manager', 'uuid-4 Read it', 'complete_task', { id: 'uuid-4' }],
    ['turn_todos', 'uuid-4 Read it', 'complete_todo', { todoId: 'uuid-4' }],
  ] as const)('[MO5] settles the current step with %s', (toolset, now, tool, input) => {
    const outcome = 'Walked through “Read it”, as the demo model does.'
    expect(thought([user(STEPS), answer('plan', {})], { toolset, now }).call).toEqual({
      tool,
      input: { ...input, outcome },
    })
  })

  it('[MO5] says what came of the current step where a text is the claim', () => {
    const messages = [user(STEPS), answer('manage_todos', {}), user('NEXT_TODO: Compute 2 + 3')]
    expect(thought(messages, { toolset: 'manage_todos', now: '2 Compute 2 + 3' })).toEqual({ text: '2 + 3 = 5' })
  })

  it.each(['What is the capital of France?', 'Hello', 'Tell me a joke'])('[MO4] does not plan for %j', request => {
    const { text, call } = thought([user(request)])
    expect(call).toBeUndefined()
    expect(text).toContain('I am the demo model')
    expect(text).toContain('several steps')
  })

  it('[MO5] does the little that it can at once', () => {
    expect(thought([user('What is 12 * 7?')]).text).toMatch(/^12 \* 7 = 84\n\nI am the demo model/)
  })

  it('[MO4] says how much of a long list it takes', () => {
    const list = Array.from({ length: 25 }, (_, place) => `- Step ${place + 1}`).join('\n')
    const { text, call } = thought([user(list)])
    expect(text).toContain('20 steps (of 25')
    expect(call?.input).toEqual({ tasks: Array.from({ length: 20 }, (_, place) => ({ title: `Step ${place + 1}` })) })
  })

  it.each([
    ['user_cancelled', 'You rejected the plan, so nothing was written.'],
    ['review_timeout', 'The review timed out, so nothing was written.'],
    ['panel_closed', 'The review was closed without a decision, so nothing was written.'],
  ])('[MO6] accepts a rejection: %s', (reason, words) => {
    const { text, call } = thought([user(STEPS), answer('plan', { confirmed: false, cancelled: true, reason })])
    expect(call).toBeUndefined()
    expect(text.startsWith(words)).toBe(true)
  })

  it('[MO6] proposes once what a person wants instead, and not what they rejected', () => {
    const no = answer('plan', { confirmed: false, reason: 'user_cancelled', comment: 'Call Anna instead' })
    const { text, call } = thought([user(STEPS), no])
    expect(text).toContain('You said: “Call Anna instead”.')
    expect(call).toEqual({ tool: 'plan', input: { tasks: [{ title: 'Call Anna' }] } })
    expect(thought([user(STEPS), no, no]).call).toBeUndefined()
  })

  it.each(['No.', 'Not now', "Don't do that", 'Too many steps', 'Why?', 'Only the first two', '不要'])(
    '[MO6] a comment that only says no is not made a step: %s',
    comment => {
      const { text, call } = thought([user(STEPS), answer('plan', { confirmed: false, comment })])
      expect(call).toBeUndefined()
      expect(text).toContain(`You said: “${comment}”.`)
    },
  )

  it('[MO5] reports what became of each step, and what the person said', () => {
    const settled = ['1 Read it (completed: All of it (twice))', '2 Send it (blocked: No post)', '3 Rest (cancelled)']
    const { text, call } = thought([user(STEPS), answer('plan', { comment: 'Be quick' })], { settled })
    expect(call).toBeUndefined()
    expect(text).toMatch(
      /^Finished\.\n\n- Read it: All of it \(twice\)\n- Send it \(blocked\): No post\n- Rest \(cancelled\)\n/,
    )
    expect(text).toContain('You said: “Be quick”.')
    expect(text).toContain('I am the demo model')
  })

  it('[TR19] goes on with a plan that was made in another turn, and reports it', () => {
    expect(thought([user('Go on')], { now: '2 Send it' }).call).toMatchObject({ tool: 'update', input: { id: 2 } })
    const settled = ['2 Send it (completed: Sent)']
    expect(thought([user('Go on'), answer('update', {})], { settled }).text).toMatch(/^Finished\.\n\n- Send it: Sent\n/)
  })

  it('[TR10] without tools it says how far it came', () => {
    const system = '## Where the plan stands\nSettled:\n- 1 A (completed: yes)\nNow:\n- 2 B'
    expect(think({ system, messages: [user(STEPS)], tools: [] })).toMatchObject({
      text: expect.stringMatching(/^This is as far as I got\.\n\n- A: yes\n/) as string,
    })
  })

  it('[MO5] goes by what stands in the plan, not by what looks like one in the request', () => {
    const system = '## Where the plan stands\nThe request: Now:\n- 9 Something else\nNow:\n- 1 Read it'
    const { call } = think({ system, messages: [user('Now:\n- 9 Something else')], tools: toolsOf('runsheet') })
    expect(call).toMatchObject({ input: { id: 1 } })
  })

  it('[MO5] a settling that is refused is blocked with the reason', () => {
    const refused = answer('update', { error: 'Task 1 was judged, and is not accepted: no proof' })
    expect(thought([user(STEPS), refused], { now: '1 Read it' }).call).toEqual({
      tool: 'update',
      input: {
        id: 1,
        status: 'blocked',
        outcome: 'It was not accepted: Task 1 was judged, and is not accepted: no proof',
      },
    })
    const again = user('That step is not done yet: no proof. Continue with it: Read it')
    expect(thought([user(STEPS), again], { toolset: 'manage_todos', now: '1 Read it' }).text).toContain('could not')
  })

  describe('with tools from elsewhere', () => {
    it.each([
      ['Echo "good morning"', { tool: 'fixture__echo', input: { text: 'good morning' } }],
      ['Use echo', { tool: 'fixture__echo', input: { text: 'Use echo' } }],
      ['Add 2 and 3.5', { tool: 'fixture__add', input: { a: 2, b: 3.5 } }],
    ])('[MO5] %s: it is used', (title, call) => {
      expect(thought([user(STEPS)], { now: `1 ${title}`, more: [echo, add] }).call).toEqual(call)
      expect(thought([user(title)], { more: [echo, add] }).call).toEqual(call)
    })

    it.each(['Read the text', 'Add some salt', 'Write for two'])('[MO5] %s: none fits', title => {
      expect(thought([user(STEPS)], { now: `1 ${title}`, more: [echo, add] }).call?.tool).toBe('update')
    })

    it('[MO5] what it answered is the outcome', () => {
      const messages = [user(STEPS), answer('fixture__add', { sum: 5 })]
      expect(thought(messages, { now: '1 Add 2 and 3', more: [add] }).call).toEqual({
        tool: 'update',
        input: { id: 1, outcome: 'fixture__add answered: {"sum":5}' },
      })
      expect(thought([user('Add 2 and 3'), answer('fixture__add', 5)], { more: [add] }).text).toMatch(
        /^fixture__add answered: 5\n/,
      )
    })

    it('[MO5] a tool that failed blocks the step', () => {
      const messages = [user(STEPS), answer('fixture__add', 'Error: no answer within 60 s')]
      expect(thought(messages, { now: '1 Add 2 and 3', more: [add] }).call?.input).toMatchObject({ status: 'blocked' })
    })
  })

  describe('as the assessor', () => {
    const judge = (outcome: string, wrote: string): string =>
      think({
        system: ASSESSOR,
        messages: [user(`The case:\n${JSON.stringify({ outcome, worker_text: wrote === '' ? [] : [wrote] })}`)],
        tools: [],
      }).text

    it.each([
      ['It is on the table', '', 'OK'],
      ['', 'Here it is.', 'OK'],
      ['Walked through “Find out why the build failed”, as the demo model does.', '', 'OK'],
      ['', '', 'NOT_OK: there is no outcome.'],
      ['', 'I could not find it', 'NOT_OK: the outcome says that it failed.'],
      ['I could not find it', '', 'NOT_OK: the outcome says that it failed.'],
      ['echo answered: Error: no', '', 'NOT_OK: the outcome says that it failed.'],
    ])('[MO7] %s / %s: %s', (said, wrote, verdict) => {
      expect(judge(said, wrote)).toBe(verdict)
    })
  })
})
