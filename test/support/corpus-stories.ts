import { createHash } from 'node:crypto'
import type { Check } from '../../src/core/proof/check.ts'
import { claimsOf, type Opinion } from '../../src/core/proof/claims.ts'
import type { Command, RunOutcome } from '../../src/core/model/command.ts'
import { emptyConversation, fold, stamped } from '../../src/core/model/conversation.ts'
import { decide } from '../../src/core/decide/index.ts'
import { attributed } from '../../src/core/model/decision.ts'
import type { EventData, Json, StoredEvent } from '../../src/core/model/event.ts'
import type { Origin } from '../../src/core/model/origin.ts'
import { Refusal } from '../../src/core/model/refusal.ts'
import { BY_PLAN } from './asked-by.ts'
import { Driver, idOf } from './domain.ts'

// The stories of `test/corpus`: together they hold every type of event. `npm run corpus` writes their logs.

const PERSON: Origin = { actor: 'person', edge: 'page', credential: 'page' }
const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const MODEL = 'openai:gpt-5'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A conversation whose commands are a quarter of a second apart, and have an origin. */
class Story extends Driver {
  readonly #place: number
  #steps = 0
  #ids = 0

  constructor(session: string, place: number) {
    super()
    this.state = emptyConversation(session)
    this.#place = place
  }

  override id(): string {
    this.#ids += 1
    return idOf(this.#place * 0x1_00_00 + this.#ids)
  }

  override ask(command: Command): StoredEvent[] | Refusal {
    this.wait(250)
    const decided = decide(this.state, command, this.now)
    if (decided instanceof Refusal) return decided
    const events = stamped(this.state, attributed(decided, PERSON), this.now)
    this.state = fold(this.state, events)
    this.log.push(...events)
    return events
  }

  /** The model answers a call; returns the id of its message. */
  step(turn_id: string, text: string, calls: EventData['step_finished']['tool_calls'] = []): string {
    this.#steps += 1
    const message_id = this.id()
    const current = this.state.open.map(id => this.state.tasks.get(id)).find(task => task?.status === 'in_progress')
    const data = {
      step: this.#steps,
      message_id,
      text,
      tool_calls: calls,
      usage: USAGE,
      digest_seq: this.state.seq,
      budget: 10,
      parts: [
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...calls.map(({ tool }) => ({ type: 'tool-call', tool })),
      ],
      ...(current ? { task_id: current.id } : {}),
    }
    this.run({ type: 'record', turn_id, fact: { type: 'step_finished', data } })
    return message_id
  }

  called(turn_id: string, tool_call_id: string, tool: string, args: Json): void {
    this.run({ type: 'record', turn_id, fact: { type: 'tool_called', data: { tool_call_id, tool, arguments: args } } })
  }

  answered(turn_id: string, tool_call_id: string, tool: string, result: Json, more: object = {}): void {
    const data = { tool_call_id, tool, result, duration_ms: 12, ok: true, ...more }
    this.run({ type: 'record', turn_id, fact: { type: 'tool_answered', data } })
  }

  says(turn_id: string, message_id: string, text: string, more: object = {}): void {
    const data = { message_id, role: 'assistant', text, ...more } as const
    this.run({ type: 'record', turn_id, fact: { type: 'message_added', data } })
  }

  follows(turn_id: string, follow_up: number, ...open: readonly string[]): void {
    this.run({ type: 'record', turn_id, fact: { type: 'gate_followed', data: { follow_up, open } } })
    const text = `The plan is not finished. Open: ${open.join(', ')}.`
    const data = { message_id: this.id(), role: 'user', text, synthetic: true } as const
    this.run({ type: 'record', turn_id, fact: { type: 'message_added', data } })
  }

  asks(review_id: string, tool_call_id: string, ...rows: Parameters<Driver['adds']>[1][]): void {
    this.run({ ...this.adds('model', ...rows), review: { ...BY_PLAN, review_id, tool_call_id } })
  }

  /** A model says that a task is done. */
  claims(turn_id: string, tool_call_id: string, number: number, outcome: string, judge?: true): void {
    const task = this.task(number)
    const claim = { claim_id: `clm_${this.id()}`, task_id: task.id, status: 'completed', outcome } as const
    const claims = [{ ...claim, seal: sha256(task.title + outcome), ...(judge ? { judge } : {}) }]
    const change = [{ task: number, fields: { status: 'completed', outcome } }] as const
    const held = { toolset: 'runsheet', tool: 'update', edit: { change }, items: 0 } as const
    this.run({ type: 'make_claims', turn_id, tool_call_id, basis: this.state.seq, claims, held })
  }

  /** The judge rules on a claim, and its call is settled. */
  rules(turn_id: string, tool_call_id: string, number: number, opinion: Opinion): boolean {
    const [claim] = claimsOf(this.state, turn_id, tool_call_id)
    if (!claim) throw new Error(`${tool_call_id} made no claim`)
    this.run({ type: 'assess_task', turn_id, task: this.task(number).id, ...opinion, seal: claim.seal })
    return this.settles(turn_id, tool_call_id)
  }

  /** A call whose claims need nothing more is settled; returns whether it is granted. */
  settles(turn_id: string, tool_call_id: string): boolean {
    const settled = this.settlesCall(tool_call_id, { seen: { fingerprint: 'f1' } }, turn_id)
    if ('needs' in settled) throw new Error(`${tool_call_id} needs ${settled.needs}`)
    const isGranted = !(settled instanceof Refusal)
    const result = isGranted ? { remaining: this.state.open.length } : { error: settled.message }
    this.answered(turn_id, tool_call_id, 'update', result, { ok: isGranted, edge: 'turn', items: 0 })
    return isGranted
  }

  /** A check runs. */
  checks(
    turn_id: string,
    run_id: string,
    { hash }: Check,
    why: EventData['check_ran']['why'],
    outcome: RunOutcome,
  ): void {
    this.run({ type: 'start_check', turn_id, run_id, hash, why })
    this.run({ type: 'end_check', turn_id, run_id, hash, outcome })
  }
}

/** A turn of ours: a plan that is sent back, approved and judged; a gate; a turn that goes on. */
function planned(): Story {
  const story = new Story('planned', 1)
  const [first, second] = [story.id(), story.id()]
  const turn = { model: MODEL, policy: { review: true, assessor: true, gate: true, review_timeout_ms: 600_000 } }
  const update = (tool_call_id: string, args: Json) => [{ tool_call_id, tool: 'update', arguments: args }]
  story.run({
    type: 'start_turn',
    turn_id: 'turn-1',
    message_id: story.id(),
    message: 'Report on the third quarter',
    ...turn,
    endpoint: 'openai',
  })
  const plan = (tool_call_id: string, ...titles: readonly string[]) =>
    [{ tool_call_id, tool: 'plan', arguments: { tasks: titles.map(title => ({ title })) } }] as const
  const once = plan('call-1', 'Collect')
  story.step('turn-1', 'A plan first.', once)
  story.called('turn-1', 'call-1', 'plan', once[0].arguments)
  story.asks(first, 'call-1', 'Collect')
  story.run({ type: 'show_panel', review_id: first, panel: 'window-1' })
  story.run({ type: 'extend_review', review_id: first })
  const onCollect = [{ draft_index: 0, comment: 'Which ones?' }]
  story.run({
    type: 'decide_review',
    review_id: first,
    decision: { action: 'revise', comment: 'More steps', row_comments: onCollect },
    via: 'http',
    ids: [],
  })
  story.answered('turn-1', 'call-1', 'plan', { cancelled: true }, { ok: false, edge: 'turn', items: 1 })

  const again = plan('call-2', 'Collect figures', 'Print it', 'Write')
  story.step('turn-1', '', again)
  story.called('turn-1', 'call-2', 'plan', again[0].arguments)
  story.asks(second, 'call-2', { title: 'Collect figures', criteria: 'Twelve months' }, 'Print it', 'Write')
  story.run({ type: 'show_panel', review_id: second, panel: 'window-1' })
  story.run({ type: 'leave_panel', review_id: second, panel: 'window-1' })
  story.run({
    type: 'decide_review',
    review_id: second,
    decision: {
      action: 'confirm',
      tasks: [{ draft_index: 0, title: 'Collect all figures' }, { title: 'Send it' }, { draft_index: 2 }],
      comment: 'Good',
      row_comments: [{ draft_index: 1, comment: 'Nobody reads paper' }],
    },
    via: 'http',
    ids: [story.id(), story.id(), story.id()],
  })
  story.answered('turn-1', 'call-2', 'plan', { ids: [1, 2, 3], remaining: 3 }, { edge: 'turn', items: 3 })

  const file = { path: '2026-Q3.csv' }
  story.step('turn-1', 'I read the file.', [{ tool_call_id: 'call-3', tool: 'read_file', arguments: file }])
  story.called('turn-1', 'call-3', 'read_file', file)
  story.answered('turn-1', 'call-3', 'read_file', 'Twelve figures.')
  story.step('turn-1', '', update('call-4', { id: 1, outcome: 'Some figures.' }))
  const [removed] = story.run(story.removes('person', 3))
  story.claims('turn-1', 'call-4', 1, 'Some figures.')
  if (removed?.type !== 'task_removed') throw new Error('not removed')
  story.run({ type: 'undo_change', change: removed })
  story.run(story.removes('person', 3))
  const judge = { model: 'openai:judge', usage: USAGE }
  const missing = 'figures for March are missing'
  story.rules('turn-1', 'call-4', 1, { verdict: 'not_ok', reason: missing, ...judge })
  story.step('turn-1', '', update('call-5', { id: 1, outcome: 'Twelve figures.' }))
  story.claims('turn-1', 'call-5', 1, 'Twelve figures.')
  story.rules('turn-1', 'call-5', 1, { verdict: 'ok', reason: '', ...judge, rests: 'uncited' })
  for (const [index, text] of ['All is done.', 'Everything is done.'].entries()) {
    story.step('turn-1', text)
    story.follows('turn-1', index + 1, '2 Send it')
  }
  story.step('turn-1', 'I cannot send it.', update('call-6', { id: 2, status: 'blocked', outcome: 'No address.' }))
  story.run(story.sets('model', 2, { status: 'blocked', outcome: 'No address.' }, { basis: story.state.seq }))
  story.answered('turn-1', 'call-6', 'update', { remaining: 0 }, { edge: 'turn', items: 0 })
  const last = 'One step is blocked.'
  const text = `${last}\n\nNot done:\n- Send it (blocked: No address.)`
  story.says('turn-1', story.step('turn-1', last), text, { answer_length: last.length })
  story.finish('turn-1')

  story.run(story.sets('person', 2, { status: 'in_progress' }))
  story.run({
    type: 'start_turn',
    turn_id: 'turn-2',
    message_id: story.id(),
    message: 'Go on',
    ...turn,
    continue_turn_id: 'turn-1',
  })
  story.step('turn-2', 'I have an address now.', update('call-7', { id: 2, outcome: 'Sent.' }))
  story.claims('turn-2', 'call-7', 2, 'Sent.')
  story.rules('turn-2', 'call-7', 2, { verdict: 'ok', reason: '', ...judge, rests: 'words' })
  story.says('turn-2', story.step('turn-2', 'Sent.'), 'Sent.')
  story.finish('turn-2')
  return story
}

/** An agent elsewhere: a plan with checks, their runs, evidence, and claims that they settle. */
function proven(): Story {
  const story = new Story('proven', 2)
  const review_id = story.id()
  const npm: Check = { kind: 'command', run: ['npm', 'test'], id: story.id(), hash: sha256('npm'), programs: [null] }
  const notes: Check = { kind: 'file', path: 'CHANGES.md', contains: '1.2', id: story.id(), hash: sha256('notes') }
  const look: Check = { kind: 'person', ask: 'Is the message clear?', id: story.id(), hash: sha256('look') }
  story.run({
    type: 'open_turn',
    turn_id: 'fix_1',
    client: 'editor in app',
    toolset: 'runsheet',
    workspace: { machine: 'desk-0f3c2b1a9d8e', path: '/home/ann/app' },
  })
  story.asks(
    review_id,
    'call-1',
    { title: 'Fix the parser', checks: [npm] },
    { title: 'Write the notes', checks: [notes] },
  )
  const tasks = [
    { draft_index: 0, checks: [npm, look], approve: [npm.hash] },
    { draft_index: 1, approve: [notes.hash] },
  ]
  story.run({
    type: 'decide_review',
    review_id,
    decision: { action: 'confirm', tasks },
    via: 'http',
    ids: [story.id(), story.id()],
  })
  story.run({
    type: 'take_baseline',
    turn_id: 'fix_1',
    plan_id: 'fix_1',
    record: 'a1b2',
  })
  const failed = { result: 'failed', exit: 1, duration_ms: 880, tail: '1 failing\n', output_sha256: 'c3' } as const
  const passed = { result: 'passed', exit: 0, duration_ms: 910, tail: '40 passing\n', output_sha256: 'd4' } as const
  story.checks('fix_1', 'run-1', npm, 'baseline', { ...failed, fingerprint: 'f0' })
  const gone = { result: 'inconclusive', duration_ms: 1, reason: 'The folder is gone.' } as const
  story.checks('fix_1', 'run-2', notes, 'baseline', gone)
  for (const [source, answer, ok] of [
    ['agent', '1 failed', false],
    ['host', 'ok 40', true],
  ] as const) {
    const call = { tool: 'Bash', arguments: { command: 'npm test' }, answer, ok }
    story.run({ type: 'add_evidence', evidence_id: `evd_${story.id()}`, source, ...call })
  }
  story.called('fix_1', 'call-2', 'update', { id: 1, outcome: 'It parses.' })
  story.claims('fix_1', 'call-2', 1, 'It parses.')
  story.run({ type: 'tick_check', task: 1, check_id: look.id })
  story.checks('fix_1', 'run-3', npm, 'claim', { ...failed, fingerprint: 'f0' })
  story.settles('fix_1', 'call-2')
  story.called('fix_1', 'call-3', 'update', { id: 1, outcome: 'It parses now.' })
  story.claims('fix_1', 'call-3', 1, 'It parses now.')
  story.run({ type: 'start_check', turn_id: 'fix_1', run_id: 'run-4', hash: npm.hash, why: 'claim' })
  story.run({ type: 'hand_back_check', turn_id: 'fix_1', run_id: 'run-4', hash: npm.hash })
  const changed = { changes: [{ path: 'package.json', is: 'protected', hash: 'e5' }] } as const
  story.checks('fix_1', 'run-5', npm, 'claim', { ...passed, fingerprint: 'f1', ...changed })
  story.settles('fix_1', 'call-3')
  story.run({ type: 'accept_changes', task: 1, paths: ['package.json'] })
  story.run({ type: 'request_check', task: 2, check_id: notes.id })
  const stopped = { result: 'inconclusive', duration_ms: 250, reason: 'It was stopped.' } as const
  story.checks('fix_1', 'run-6', notes, 'person', stopped)
  story.called('fix_1', 'call-4', 'update', { id: 2, outcome: 'Written.' })
  story.claims('fix_1', 'call-4', 2, 'Written.')
  story.run({ type: 'start_check', turn_id: 'fix_1', run_id: 'run-7', hash: notes.hash, why: 'claim' })
  return story
}

/** Turns that fail, are stopped and steered; a conversation that is filed; a plan that an agent elsewhere joins. */
function steered(): Story {
  const story = new Story('steered', 3)
  const turn = {
    model: MODEL,
    policy: { review: false, assessor: false, gate: true, toolset: 'task_manager' },
  } as const
  story.run({ type: 'start_turn', turn_id: 'turn-1', message_id: story.id(), message: 'Prepare release 2.1', ...turn })
  story.run({ type: 'set_title', by: 'model', title: 'Release 2.1', model: MODEL, usage: USAGE })
  story.run({ type: 'set_pinned', pinned: true })
  story.run(story.adds('model', 'Write the changelog', 'Tag the commit'))
  story.run(story.sets('model', 1, { status: 'completed', outcome: 'Written.' }, { basis: story.state.seq }))
  story.step('turn-1', 'The changelog is written.')
  story.follows('turn-1', 1, 'Tag the commit')
  const resubmitting = { next: 'Tag the commit', state: [], iteration: 1, max_iterations: 5 }
  story.run({ type: 'record', turn_id: 'turn-1', fact: { type: 'todos_resubmitting', data: resubmitting } })
  const limit = { message: 'The limit is reached.', remaining: 1, current: 'Tag the commit' }
  story.run({ type: 'record', turn_id: 'turn-1', fact: { type: 'todos_limit_reached', data: limit } })
  story.run({
    type: 'finish_turn',
    turn_id: 'turn-1',
    because: 'error',
    failure: { code: 'provider_error', message: 'The provider answered 500 three times.' },
    steps: 4,
    usage: USAGE,
  })

  const again = { message: 'Try again', continue_turn_id: 'turn-1' }
  story.run({ type: 'start_turn', turn_id: 'turn-2', message_id: story.id(), ...turn, ...again })
  const tag = { tool_call_id: 'call-1', tool: 'git_tag', arguments: { name: 'v2.1.0' } }
  const approval = { approval_id: `apr_${story.id()}`, ...tag, server: 'git', server_tool: 'tag', fingerprint: 'a1' }
  story.step('turn-2', '', [tag])
  story.run({ type: 'ask_approval', turn_id: 'turn-2', approval })
  const { approval_id } = approval
  story.run({ type: 'decide_approval', approval_id, decision: 'deny', comment: 'Not yet', via: 'http' })
  story.answered('turn-2', 'call-1', 'git_tag', { error: 'Not yet' }, { ok: false })
  const queue = (text: string, turn_id: string): string => {
    const message_id = story.id()
    story.run({ type: 'send_message', message_id, text, next: { turn_id } })
    return message_id
  }
  const kept = queue('Sign the tag', 'turn-3')
  const taken = queue('And announce it', 'turn-3')
  story.run({ type: 'edit_queued', message_id: kept, text: 'Sign the tag with my key', if_version: 1 })
  story.run({ type: 'withdraw_queued', message_id: taken, if_version: 1 })
  story.run({ type: 'send_queued', message_id: kept, next: { turn_id: 'turn-3' } })
  const stop = { type: 'finish_turn', because: 'stopped', steps: 1, usage: USAGE } as const
  story.run({ ...stop, turn_id: 'turn-2', next: { turn_id: 'turn-3' } })
  queue('One more thing', 'turn-4')
  story.run({ type: 'stop_turn', turn_id: 'turn-3' })
  story.run({ ...stop, turn_id: 'turn-3' })

  story.run({ type: 'open_turn', turn_id: 'outside-1', client: 'editor in app', toolset: 'task_manager' })
  story.run({ type: 'set_archived', archived: true })
  return story
}

export const STORIES = { planned, proven, steered }
