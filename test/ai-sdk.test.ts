import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, streamText, tool } from 'ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createRunsheet,
  openMemoryStore,
  type Conversation,
  type Runsheet,
  type RunsheetOptions,
  type Turn,
} from '../src/index.ts'
import { createJudge, planAgent, planLoop } from '../src/library/ai-sdk.ts'
import type { Judge, JudgeCase } from '../src/index.ts'
import { openChecks } from '../src/library/checks.ts'
import { openSqliteStore } from '../src/library/sqlite.ts'
import { approveAll, ScratchWorkspace, seen } from './support/checked-library.ts'
import { type Answer, Provider } from './support/provider.ts'

const workspace = ScratchWorkspace.each(each =>
  each.write('check.sh', 'test -s sum.txt || { echo there is no sum; exit 3; }\n'),
)

/** The agent's own tool. */
const save = tool({
  description: 'Writes a file.',
  inputSchema: jsonSchema<{ text: string }>({ type: 'object', properties: { text: { type: 'string' } } }),
  execute: async ({ text }) => {
    workspace.write('sum.txt', text)
    return `wrote ${text}`
  },
})

interface Scene {
  readonly runsheet: Runsheet
  readonly chat: Conversation
  readonly turn: Turn
  readonly provider: Provider
  readonly model: LanguageModel
}

async function scene(
  answers: readonly Answer[],
  options: Partial<RunsheetOptions> & { judgedBy?: readonly Answer[] } = {},
): Promise<Scene> {
  const { judgedBy, ...rest } = options
  const provider = await Provider.start([...answers], judgedBy && [...judgedBy])
  const model = modelAt(provider)
  const runsheet = createRunsheet({
    store: openMemoryStore(),
    checks: openChecks({ workspace: workspace.path }),
    policy: { assessor: judgedBy !== undefined },
    ...(judgedBy ? { judge: createJudge({ model: modelAt(provider, 'judge') }) } : {}),
    ...rest,
  })
  onTestFinished(async () => {
    await runsheet.close()
    await provider.close()
  })
  const chat = runsheet.conversation('chat-1')
  return { runsheet, chat, turn: chat.turn('turn-1'), provider, model }
}

const modelAt = (provider: Provider, name = 'worker'): LanguageModel =>
  createOpenAICompatible({ name: 'scripted', baseURL: provider.url })(name)

const PLAN = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Write the sum', check: 'sh check.sh' }] } }] }
const CLAIM = { calls: [{ tool: 'update', args: { id: 1, outcome: 'The sum is in sum.txt.' } }] }
const WORK = { calls: [{ tool: 'save', args: { text: '42' } }] }
const DONE = 'The sum is written.'
/** Claims without work, stops, is sent back, works, claims again. */
const STORY: readonly Answer[] = [PLAN, CLAIM, 'I am done.', WORK, CLAIM, DONE]
const PROVEN = { status: 'completed', standing: 'proven' }

const lastUser = (provider: Provider, request: number): string =>
  provider.messages(request).findLast(({ role }) => role === 'user')?.content ?? ''

describe("AI SDK's loop", () => {
  it('[AI1] goes from the plan to red, to proven, and ends: with generateText', async () => {
    const { chat, turn, provider, model } = await scene(STORY, { onReview: approveAll })
    const loop = await planLoop(turn, { instructions: 'You are terse.' })
    const { text, steps } = await generateText({
      model,
      ...loop,
      tools: { ...loop.tools, save },
      prompt: 'Write the sum of 40 and 2.',
    })
    expect([text, steps.length]).toEqual([DONE, 6])
    expect(await chat.tasks()).toMatchObject([PROVEN])
    expect(await turn.finish()).toMatchObject({ status: 'done', standings: { proven: 1 } })
    expect(provider.system(0)).toMatch(/^You are terse.\n\n## Plan[^]*Give a task a check/)
    // The digest replaces the last one.
    expect(provider.system(1)).toMatch(/## Where the plan stands\nNow:\n- 1 Write the sum\n1 remaining\.$/)
    expect(provider.system(5).match(/## Where the plan stands/g)).toHaveLength(1)
    expect(provider.system(5)).toContain('0 remaining.')
    expect(JSON.stringify(provider.messages(2).at(-1))).toMatch(/fails with exit code 3.*there is no sum/)
  })

  it('[AI1] does the same with streamText', async () => {
    const { chat, turn, model } = await scene(STORY, { onReview: approveAll })
    const loop = await planLoop(turn)
    const result = streamText({ model, ...loop, tools: { ...loop.tools, save }, prompt: 'Write the sum.' })
    const parts: string[] = []
    for await (const part of result.fullStream) parts.push(part.type)
    expect(await result.text).toBe(DONE)
    // The follow-up is shown where it was sent.
    expect(parts.filter(type => type === 'steering-message')).toHaveLength(1)
    expect(await chat.tasks()).toMatchObject([PROVEN])
  })

  it('[AI1] does the same with an agent, call by call, beside its own settings', async () => {
    const { chat, turn, model } = await scene(STORY, { onReview: approveAll })
    const ended: string[] = []
    const agent = planAgent(turn, {
      model,
      tools: { save },
      onToolExecutionEnd: ({ toolCall }) => void ended.push(toolCall.toolName),
    })
    expect(Object.keys(agent.tools).sort()).toEqual(['plan', 'save', 'tasks', 'update'])
    const { text } = await agent.generate({ prompt: 'Write the sum.' })
    expect(text).toBe(DONE)
    expect(ended).toEqual(['plan', 'update', 'save', 'update'])
    expect(await chat.tasks()).toMatchObject([PROVEN])
  })

  it('a model that stops early is sent back, three times at most', async () => {
    const two = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Look' }, { title: 'Leap' }] } }] }
    const { chat, turn, provider, model } = await scene([two, 'Later.', 'Later.', 'Later.', 'No.'], {
      policy: { review: false, assessor: false },
    })
    const { text, steps, responseMessages } = await generateText({ model, ...(await planLoop(turn)), prompt: 'Go.' })
    expect([text, steps.length]).toEqual(['No.', 5])
    expect(lastUser(provider, 1)).toBe('Go.')
    for (const request of [2, 3, 4]) {
      expect(lastUser(provider, request)).toMatch(/^The plan is not finished. Open: 1 Look; 2 Leap\./)
    }
    expect(await seen(chat, 'gate_followed')).toMatchObject([{ follow_up: 1 }, { follow_up: 2 }, { follow_up: 3 }])
    expect(steps[2]?.experimental_steeringMessages).toMatchObject([{ content: lastUser(provider, 2) }])
    // AI SDK keeps them apart from the response.
    expect(responseMessages.map(({ role }) => role)).not.toContain('user')
  })

  it('without a plan, or with the gate off, an answer is the last one', async () => {
    const { turn, model, runsheet } = await scene(['Hello.', PLAN, 'Bye.'], {
      policy: { review: false, assessor: false, gate: false },
    })
    expect((await generateText({ model, ...(await planLoop(turn)), prompt: 'Hi.' })).steps).toHaveLength(1)
    const next = runsheet.conversation('chat-2').turn('turn-1')
    expect((await generateText({ model, ...(await planLoop(next)), prompt: 'Hi.' })).steps).toHaveLength(2)
  })

  it("ends at the policy's limits; the last step is asked for an answer", async () => {
    const look = (count: number): Answer => ({ calls: [{ tool: 'save', args: { text: `${count}` } }] })
    const { turn, provider, model } = await scene([PLAN, look(1), look(2), look(3), look(4), look(5)], {
      policy: { review: false, assessor: false, max_steps: 2, max_steps_with_plan: 5 },
    })
    const loop = await planLoop(turn)
    const { steps } = await generateText({ model, ...loop, tools: { ...loop.tools, save }, prompt: 'Go.' })
    expect(steps).toHaveLength(5)
    expect(provider.system(3)).not.toContain('last call')
    expect(provider.system(4)).toMatch(/This is the last call of this turn: answer now/)
  })

  it('ends when the same calls give the same results three times', async () => {
    const { turn, model } = await scene([PLAN, WORK, WORK, WORK, WORK], { policy: { review: false, assessor: false } })
    const loop = await planLoop(turn)
    const { steps } = await generateText({ model, ...loop, tools: { ...loop.tools, save }, prompt: 'Go.' })
    expect(steps).toHaveLength(4)
  })

  it('with `force` the model has to call a tool while tasks are open', async () => {
    const { turn, provider, model } = await scene(
      [
        { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Look' }] } }] },
        { calls: [{ tool: 'update', args: { id: 1, outcome: 'x' } }] },
        'Done.',
      ],
      { policy: { review: false, assessor: false } },
    )
    await generateText({ model, ...(await planLoop(turn, { force: true })), prompt: 'Go.' })
    const choices = provider.asked.map(({ request }) => (request as { tool_choice?: string }).tool_choice)
    expect(choices).toEqual(['auto', 'required', 'auto'])
  })

  it('after a restart the digest says where the plan stands, and follow-ups are not counted anew', async () => {
    const store = join(workspace.folder, 'runsheet.db')
    const policy = { review: false, assessor: false }
    const two = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Look' }, { title: 'Leap' }] } }] }
    const done = { calls: [{ tool: 'update', args: { id: 1, outcome: 'Looked around.' } }] }
    const first = await scene([two, done, 'Later.', { status: 400 }], { store: await openSqliteStore(store), policy })
    const crashed = generateText({ model: first.model, ...(await planLoop(first.turn)), prompt: 'Go.', maxRetries: 0 })
    await expect(crashed).rejects.toThrow()
    await first.runsheet.close()
    const second = await scene(['Later.', 'Later.', 'No.'], { store: await openSqliteStore(store), policy })
    const { steps } = await generateText({ model: second.model, ...(await planLoop(second.turn)), prompt: 'Go on.' })
    expect(second.provider.system(0)).toMatch(
      /Settled:\n- 1 Look \(done: Looked around\.\)\nNow:\n- 2 Leap\n1 remaining\.$/,
    )
    expect(steps).toHaveLength(3)
  })

  it('an edit by a person is in the next digest', async () => {
    const { chat, turn, provider, model } = await scene([PLAN, WORK, 'x', 'x', 'x', 'x'], {
      policy: { review: false, assessor: false },
    })
    const loop = await planLoop(turn)
    const edit = { ...save, execute: async () => (await chat.changeTask(1, { title: 'Write the product' })).title }
    await generateText({ model, ...loop, tools: { ...loop.tools, save: edit }, prompt: 'Go.' })
    expect(provider.system(2)).toContain('- 1 Write the product')
  })
})

describe('AI SDK’s tool approval, of tools of the program', () => {
  const GO: ModelMessage[] = [{ role: 'user', content: 'Write the sum.' }]

  async function run({ turn, model }: Scene, messages: ModelMessage[]) {
    const loop = await planLoop(turn, { approve: { save } })
    const result = await generateText({ model, ...loop, tools: { ...loop.tools, save }, messages })
    const request = result.content.find(part => part.type === 'tool-approval-request')
    const asked = request?.type === 'tool-approval-request' ? request : undefined
    return { text: result.text, asked, messages: [...messages, ...result.responseMessages] }
  }
  const said = (approvalId: string, approved: boolean, reason?: string): ModelMessage => ({
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId, approved, ...(reason ? { reason } : {}) }],
  })

  it('what is asked is in the log; approved there, the call is made', async () => {
    const at = await scene([WORK, DONE])
    const { asked, messages } = await run(at, GO)
    expect(asked?.reason).toBe('save {"text":"42"}')
    expect(await at.chat.approvals()).toMatchObject([{ tool: 'save', arguments: { text: '42' } }])
    expect(await seen(at.chat, 'evidence_added')).toEqual([])
    const { text } = await run(at, [...messages, said(asked?.approvalId ?? '', true)])
    expect(text).toBe(DONE)
    expect(at.provider.messages(1).at(-1)?.content).toContain('wrote 42')
    expect(await seen(at.chat, 'tool_approval_resolved')).toMatchObject([{ decision: 'allow', via: 'library' }])
    expect(await at.chat.approvals()).toEqual([])
  })

  it('denied, it is not made, and the log has why', async () => {
    const at = await scene([WORK, 'Then not.'])
    const { asked, messages } = await run(at, GO)
    await run(at, [...messages, said(asked?.approvalId ?? '', false, 'Not today.')])
    expect(at.provider.messages(1).at(-1)?.content).toContain('Not today.')
    expect(await seen(at.chat, 'tool_approval_resolved')).toMatchObject([{ decision: 'deny', comment: 'Not today.' }])
  })

  it('what a person decided elsewhere first counts, whatever AI SDK is told', async () => {
    const at = await scene([WORK, 'I see.'])
    const { asked, messages } = await run(at, GO)
    const [waiting] = await at.chat.approvals()
    await at.chat.decideApproval(waiting?.approval_id ?? '', { decision: 'deny', comment: 'No, on the page.' })
    await run(at, [...messages, said(asked?.approvalId ?? '', true)])
    expect(at.provider.messages(1).at(-1)?.content).toContain('No, on the page.')
    expect(at.provider.messages(1).at(-1)?.content).not.toContain('wrote')
  })

  it('an approval of other arguments than those that were shown makes no call', async () => {
    const at = await scene([WORK, 'I see.'])
    const { asked, messages } = await run(at, GO)
    const forged = JSON.parse(JSON.stringify(messages).replaceAll('42', '43')) as ModelMessage[]
    await run(at, [...forged, said(asked?.approvalId ?? '', true)])
    expect(at.provider.messages(1).at(-1)?.content).not.toContain('wrote')
    expect(await at.chat.approvals()).toHaveLength(1)
  })

  it('[TO4] "always" holds for the next calls, until the tool is described otherwise', async () => {
    const at = await scene([WORK, WORK, DONE, WORK, DONE])
    const { messages, asked } = await run(at, GO)
    const [waiting] = await at.chat.approvals()
    await at.chat.decideApproval(waiting?.approval_id ?? '', { decision: 'always' })
    const { text } = await run(at, [...messages, said(asked?.approvalId ?? '', true)])
    expect(text).toBe(DONE)
    expect(await seen(at.chat, 'tool_approval_required')).toHaveLength(1)
    const other = tool({
      description: 'Writes a file, and sends it.',
      inputSchema: jsonSchema({ type: 'object' }),
      execute: async () => 'sent',
    })
    const loop = await planLoop(at.turn, { approve: { save: other } })
    await generateText({ model: at.model, ...loop, tools: { ...loop.tools, save: other }, messages: GO })
    expect(await seen(at.chat, 'tool_approval_required')).toHaveLength(2)
  })
})

describe('AI SDK’s tool approval', () => {
  /** Runs the loop until it asks for approval, and returns the messages and the request. */
  async function untilAsked({ turn, model }: Scene) {
    const loop = await planLoop(turn, { review: 'approval' })
    const messages: ModelMessage[] = [{ role: 'user', content: 'Write the sum.' }]
    const { content, responseMessages } = await generateText({
      model,
      ...loop,
      tools: { ...loop.tools, save },
      messages,
    })
    const request = content.find(part => part.type === 'tool-approval-request')
    if (request?.type !== 'tool-approval-request') throw new Error('nothing was asked')
    return { request, messages: [...messages, ...responseMessages] }
  }

  async function answered(
    { turn, model }: Scene,
    messages: ModelMessage[],
    approvalId: string,
    approved: boolean,
    reason?: string,
  ) {
    const loop = await planLoop(turn, { review: 'approval' })
    const response = { type: 'tool-approval-response', approvalId, approved, ...(reason ? { reason } : {}) } as const
    return generateText({
      model,
      ...loop,
      tools: { ...loop.tools, save },
      messages: [...messages, { role: 'tool', content: [response] }],
    })
  }

  it('[AI5] approved, confirms the plan as proposed, with the checks that were shown', async () => {
    const at = await scene(STORY)
    const { request, messages } = await untilAsked(at)
    expect(request.reason).toBe(
      'A plan of 1:\n1. Write the sum\n   check: sh check.sh\nApproving it allows these checks to run.',
    )
    // The review is in the log before anybody is asked.
    expect(await at.chat.reviews()).toMatchObject([{ draft_tasks: [{ title: 'Write the sum' }] }])
    expect(await at.chat.tasks()).toEqual([])
    const { text } = await answered(at, messages, request.approvalId, true)
    expect(text).toBe(DONE)
    expect(await at.chat.tasks()).toMatchObject([PROVEN])
    expect(await seen(at.chat, 'task_create_review_resolved')).toMatchObject([{ action: 'confirm', via: 'library' }])
  })

  it('[AI5] approves no check that looks like another one', async () => {
    const check = 'sh check\u200b.sh'
    const at = await scene([{ calls: [{ tool: 'plan', args: { tasks: [{ title: 'Write', check }] } }] }, CLAIM, DONE])
    const { request, messages } = await untilAsked(at)
    expect(request.reason).toBe('A plan of 1:\n1. Write')
    await answered(at, messages, request.approvalId, true)
    expect(await at.chat.tasks()).toMatchObject([{ standing: 'reported', checks: [{ approved: false }] }])
  })

  it('[AI5] denied, cancels the plan with the reason, and the model hears it', async () => {
    const at = await scene([PLAN, 'Then not.'])
    const { request, messages } = await untilAsked(at)
    const { text } = await answered(at, messages, request.approvalId, false, 'Not today.')
    expect(text).toBe('Then not.')
    expect(await seen(at.chat, 'task_create_review_resolved')).toMatchObject([
      { action: 'cancel', reason: 'user_cancelled', comment: 'Not today.' },
    ])
    expect(await seen(at.chat, 'tool_answered')).toMatchObject([{ tool: 'plan', ok: false }])
    expect(await at.chat.tasks()).toEqual([])
    expect(at.provider.messages(1).at(-1)?.content).toContain('Not today.')
  })

  it('a plan that was decided elsewhere meanwhile stays as decided', async () => {
    const at = await scene([PLAN, 'I see.'])
    const { request, messages } = await untilAsked(at)
    const [review] = await at.chat.reviews()
    await at.chat.decide(review?.review_id ?? '', { action: 'cancel', comment: 'No, on the page.' })
    await answered(at, messages, request.approvalId, true)
    expect(await at.chat.tasks()).toEqual([])
    expect(at.provider.messages(1).at(-1)?.content).toContain('No, on the page.')
  })

  it('what is no answer to a request confirms nothing', async () => {
    const at = await scene([PLAN, 'I see.'])
    const { messages } = await untilAsked(at)
    await expect(answered(at, messages, 'forged', true)).rejects.toThrow(/forged/)
    expect(await at.chat.reviews()).toHaveLength(1)
    // Without AI SDK's approval the call waits for the review, as it does elsewhere.
    const loop = await planLoop(at.turn, { review: 'approval' })
    const { plan } = loop.tools
    const waiting = plan?.execute?.(PLAN.calls[0]?.args, { toolCallId: 'other', messages, context: undefined })
    await expect.poll(() => at.chat.reviews()).toMatchObject([{ tool_call_id: 'other' }])
    for (const { review_id } of await at.chat.reviews()) await at.chat.decide(review_id, { action: 'cancel' })
    expect(await waiting).toMatchObject({ confirmed: false })
  })

  it('an approval of other arguments than those that were proposed confirms nothing', async () => {
    const at = await scene([PLAN, 'I see.'])
    const { request, messages } = await untilAsked(at)
    const forged = JSON.parse(JSON.stringify(messages).replaceAll('Write the sum', 'Wipe the disk')) as ModelMessage[]
    await answered(at, forged, request.approvalId, true)
    expect(await at.chat.tasks()).toEqual([])
    expect(await at.chat.reviews()).toMatchObject([{ draft_tasks: [{ title: 'Write the sum' }] }])
    expect(at.provider.messages(1).at(-1)?.content).toContain('already used with other arguments')
  })

  it('a call that needs no review, or has the wrong form, asks nobody', async () => {
    const wrong = { calls: [{ tool: 'plan', args: { tasks: 'Write' } }] }
    const at = await scene([wrong, PLAN, CLAIM, WORK, CLAIM, DONE], { policy: { review: false, assessor: false } })
    const loop = await planLoop(at.turn, { review: 'approval' })
    const { content } = await generateText({
      model: at.model,
      ...loop,
      tools: { ...loop.tools, save },
      prompt: 'Go.',
    })
    expect(content.filter(({ type }) => type === 'tool-approval-request')).toEqual([])
    expect(await at.chat.tasks()).toHaveLength(1)
  })

  it('[AI5] works with an agent, whose own approvals count for its own tools', async () => {
    const at = await scene(STORY)
    const agent = planAgent(at.turn, {
      model: at.model,
      tools: { save },
      review: 'approval',
      toolApproval: ({ toolCall }) => (toolCall.toolName === 'plan' ? 'denied' : undefined),
    })
    const first = await agent.generate({ prompt: 'Write the sum.' })
    const request = first.content.find(part => part.type === 'tool-approval-request')
    if (request?.type !== 'tool-approval-request') throw new Error('nothing was asked')
    const { approvalId } = request
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Write the sum.' },
      ...first.responseMessages,
      { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] },
    ]
    expect((await agent.generate({ messages })).text).toBe(DONE)
    expect(await at.chat.tasks()).toMatchObject([PROVEN])
  })
})

describe('the judge', () => {
  it('rules on what the loop claims, with what its tools really answered', async () => {
    const plan = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Write the sum' }] } }] }
    const { chat, turn, provider, model } = await scene([plan, CLAIM, WORK, CLAIM, DONE], {
      onReview: approveAll,
      judgedBy: ['NOT_OK: nothing was written', 'OK'],
    })
    const loop = await planLoop(turn)
    const { text } = await generateText({ model, ...loop, tools: { ...loop.tools, save }, prompt: 'Go.' })
    expect(text).toBe(DONE)
    expect(await chat.tasks()).toMatchObject([{ standing: 'judged', judged_by: 'assessor' }])
    expect(await seen(chat, 'task_assessed')).toMatchObject([
      { verdict: 'not_ok', reason: 'nothing was written', model: 'judge' },
      { verdict: 'ok', model: 'judge' },
    ])
    expect(provider.case(0).evidence).toEqual([])
    expect(provider.case(1).evidence).toMatchObject([
      { tool: 'save', arguments: { text: '42' }, answer: 'wrote 42', ok: true },
    ])
  })

  it('a tool that fails is evidence of that; with evidence off nothing is stored', async () => {
    const plan = { calls: [{ tool: 'plan', args: { tasks: [{ title: 'Write the sum' }] } }] }
    const broken = { ...save, execute: async () => Promise.reject(new Error('the disk is full')) }
    const { chat, turn, model, runsheet } = await scene([plan, WORK, CLAIM, DONE, plan, WORK, CLAIM, DONE], {
      policy: { review: false, assessor: false },
    })
    const loop = await planLoop(turn)
    await generateText({ model, ...loop, tools: { ...loop.tools, save: broken }, prompt: 'Go.' })
    expect(await seen(chat, 'evidence_added')).toMatchObject([
      { tool: 'save', source: 'agent', ok: false, answer: expect.stringContaining('the disk is full') },
    ])
    const quiet = runsheet.conversation('chat-2')
    const off = await planLoop(quiet.turn('turn-1'), { evidence: false })
    await generateText({ model, ...off, tools: { ...off.tools, save: broken }, prompt: 'Go.' })
    expect(await seen(quiet, 'evidence_added')).toEqual([])
  })

  it('doubts what is green, and cannot overrule what is red', async () => {
    const { chat, turn, provider, model } = await scene([PLAN, CLAIM, WORK, CLAIM, CLAIM, DONE], {
      onReview: approveAll,
      judgedBy: ['NOT_OK: say where it is', 'OK'],
    })
    const loop = await planLoop(turn)
    await generateText({ model, ...loop, tools: { ...loop.tools, save }, prompt: 'Go.' })
    // The first claim was red: the judge was not asked.
    expect(provider.judged).toHaveLength(2)
    expect(provider.case(0).checks).toMatchObject([{ check: 'sh check.sh', state: 'passed' }])
    expect(await chat.tasks()).toMatchObject([PROVEN])
  })

  it('needs no workspace', async () => {
    const provider = await Provider.start([], ['NOT_OK: no word of it', 'OK'])
    const judge = createJudge({ model: modelAt(provider), name: 'second look' })
    const runsheet = createRunsheet({ store: openMemoryStore(), judge, policy: { review: false } })
    onTestFinished(async () => {
      await runsheet.close()
      await provider.close()
    })
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Look' }] })
    expect(await turn.call('update', { id: 1, outcome: 'Looked.' })).toMatchObject({
      error: expect.stringContaining('no word of it'),
    })
    expect(await turn.call('update', { id: 1, outcome: 'Looked twice.' })).toMatchObject({ remaining: 0 })
    expect(await chat.tasks()).toMatchObject([{ standing: 'judged' }])
    expect(await seen(chat, 'task_assessed')).toMatchObject([{ model: 'second look' }, { model: 'second look' }])
  })

  const INVENTED = { ok: true, evidence: ['e9'] }

  it.each<[why: string, answers: readonly unknown[], asked: number, standing: string | undefined]>([
    ['a yes', [{ ok: true, reason: 'Seen.' }], 1, 'judged'],
    ['a no', [{ ok: false, reason: 'no word of it' }], 1, undefined],
    ['neither, then a yes', [{ ok: null, reason: 'Unsure.' }, { ok: true }], 2, 'judged'],
    ['a text, twice', ['yes', 'yes'], 2, undefined],
    ['nothing, twice', [undefined, null], 2, undefined],
    ['evidence that does not exist, twice', [INVENTED, INVENTED], 2, undefined],
    ['an error, twice', [new Error('no network'), new Error('no network')], 2, undefined],
  ])('a function may judge, and says %s', async (_, answers, asked, standing) => {
    const cases: JudgeCase[] = []
    const judge = (async theCase => {
      const answer = answers[cases.length]
      cases.push(theCase)
      if (answer instanceof Error) throw answer
      return answer
    }) as Judge
    const runsheet = createRunsheet({ store: openMemoryStore(), judge, policy: { review: false } })
    onTestFinished(() => runsheet.close())
    const chat = runsheet.conversation('chat-1')
    const turn = chat.turn('turn-1')
    await turn.call('plan', { tasks: [{ title: 'Look' }] })
    await turn.call('update', { id: 1, outcome: 'Looked.' })
    expect(cases).toHaveLength(asked)
    expect(cases[0]).toMatchObject({ task: 'Look', outcome: 'Looked.' })
    const [task] = await chat.tasks()
    expect(task?.standing).toBe(standing)
    const models = (await seen(chat, 'task_assessed')).map(({ model }) => model)
    expect(models).toEqual(cases.map(() => 'judge'))
  })

  it('createRunsheet refuses a judge that is no function', () => {
    const judge = { model: 'x' } as unknown as Judge
    expect(() => createRunsheet({ store: openMemoryStore(), judge })).toThrow('judge must be a function')
  })
})
