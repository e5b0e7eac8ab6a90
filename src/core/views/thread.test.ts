import { describe, expect, it } from 'vitest'
import { cancels, dataOf, inRun, outside, START, underReview } from '../../../test/support/domain.ts'
import { approved, FILE, NPM, Plan, TICK } from '../../../test/support/checked-plan.ts'
import { CORPUS, corpusLog } from '../../../test/support/corpus.ts'
import { threadIn, told } from '../../../test/support/thread.ts'
import { toolsets } from '../../engine/toolsets/index.ts'
import { OWN_TOOLS } from '../model/policy.ts'
import type { Command } from '../model/command.ts'
import type { PlanCard } from './plan-card.ts'
import type { StoredEvent } from '../model/event.ts'
import { claimedOutcome, rejectedIn, threadLog } from './thread-log.ts'
import { view } from './view.ts'

const cardsIn = (log: Parameters<typeof threadIn>[0]): PlanCard[] =>
  threadIn(log).flatMap(({ items }) => items.flatMap(item => (item.kind === 'plan' ? [item.card] : [])))

describe('plans in a thread', () => {
  it('checks that were not approved are counted and named at their row and step, until they are', () => {
    const plan = new Plan({ title: 'A', checks: [NPM, FILE] }, { title: 'B', checks: [TICK] })
    plan.run(plan.settles(1))
    const [card] = cardsIn(plan.log)
    expect(card).toMatchObject({ unapproved: 2, rows: [{ unapproved: [NPM, FILE] }, { title: 'B' }] })
    // A person looks, and that needs no approval.
    expect(card?.rows[1]).not.toHaveProperty('unapproved')
    const steps = () =>
      threadIn(plan.log).flatMap(({ items }) => items.flatMap(item => ('step' in item ? item.step : [])))
    expect(steps()[0]).toMatchObject({ title: 'A', unapproved: [NPM, FILE] })
    plan.run(plan.edits('person', { change: [{ task: 1, fields: {}, approve: [NPM.hash] }] }))
    expect(cardsIn(plan.log)[0]).toMatchObject({ unapproved: 1, rows: [{ unapproved: [FILE] }, {}] })
    expect(steps()[0]?.unapproved).toEqual([FILE])
  })

  it('an approved plan is a card: what was edited, added and removed, row by row, in the order of the decision', () => {
    const [sentBack, approved] = cardsIn(corpusLog('planned'))
    expect(sentBack).toMatchObject({
      outcome: 'changes_requested',
      steps: 1,
      comment: 'More steps',
      row_comments: [{ draft_index: 0, title: 'Collect', comment: 'Which ones?' }],
      rows: [{ change: 'proposed', title: 'Collect', draft_index: 0 }],
    })
    expect(approved).toMatchObject({
      outcome: 'approved',
      steps: 3,
      edited: 1,
      added: 1,
      removed: 1,
      reordered: false,
      comment: 'Good',
      row_comments: [{ title: 'Print it', comment: 'Nobody reads paper' }],
      rows: [
        { change: 'edited', title: 'Collect all figures', draft_index: 0, from: { title: 'Collect figures' } },
        { change: 'removed', title: 'Print it', draft_index: 1 },
        { change: 'added', title: 'Send it' },
        { change: 'kept', title: 'Write', draft_index: 2 },
      ],
    })
    const ids = approved?.rows.flatMap(({ task_id }) => task_id ?? [])
    expect(ids).toEqual(dataOf(corpusLog('planned'), 'task_created').map(({ task }) => task.id))
  })

  it('a plan that was sent back with edits has its rows in their order, with the comments on them', () => {
    const chat = underReview('A', 'B', 'C')
    const tasks = [{ draft_index: 2 }, { title: 'New' }, { draft_index: 0, title: 'A 2' }]
    const row_comments = [{ draft_index: 1, comment: 'Why?' }]
    chat.run({ ...cancels(), decision: { action: 'revise', comment: 'Mine', tasks, row_comments } })
    expect(cardsIn(chat.log)).toMatchObject([
      {
        outcome: 'changes_requested',
        row_comments,
        rows: [
          { change: 'kept', title: 'C', draft_index: 2 },
          { change: 'added', title: 'New' },
          { change: 'edited', title: 'A 2', draft_index: 0 },
          { change: 'removed', title: 'B', draft_index: 1 },
        ],
      },
    ])
  })

  it.each([
    ['approved', { action: 'confirm', tasks: [{ draft_index: 0 }] }],
    ['changes_requested', { action: 'revise', comment: 'Shorter' }],
  ] as const)('a turn that a reopened plan started is known by its decision: %s', (decided, decision) => {
    const chat = underReview('A').wait(120_000)
    chat.run({ type: 'expire_review', review_id: 'review-1' })
    chat.finish('turn-1')
    chat.run({ type: 'reopen_review', review_id: 'review-1', new_review_id: 'review-2' })
    const continuation = { turn_id: 'turn-2', message_id: 'message-2' }
    chat.run({ ...chat.confirms([{}]), review_id: 'review-2', decision, continuation } as Command)
    const [first, next] = threadIn(chat.log)
    expect(first?.items.some(item => 'decided' in item)).toBe(false)
    expect(next?.items[0]).toMatchObject({ kind: 'message', decided })
  })

  it.each<[string, Partial<Parameters<typeof cancels>[0]>, string]>([
    ['rejected', { comment: 'No' }, 'rejected'],
    ['rejected with words of their own', { reason: 'the moon is full' }, 'rejected'],
    ['closed', { reason: 'panel_closed' }, 'closed'],
  ])('a plan that was %s is a card, with what was proposed', (_, decision, outcome) => {
    const chat = underReview('A', 'B')
    expect(cardsIn(chat.log)).toEqual([])
    chat.run(cancels(decision))
    expect(cardsIn(chat.log)).toMatchObject([{ outcome, steps: 2, rows: [{ title: 'A' }, { title: 'B' }] }])
  })

  it('so is one that timed out, that its turn ended, and that a newer one superseded', () => {
    const late = underReview('A').wait(120_000)
    late.run({ type: 'expire_review', review_id: 'review-1' })
    const stopped = underReview('A')
    stopped.run({ type: 'stop_turn', turn_id: 'turn-1' })
    const elsewhere = outside('runsheet', { review: true })
    const review = { review_id: 'review-1', tool_call_id: 'call-1', toolset: 'runsheet', tool: 'plan' } as const
    elsewhere.run({ ...elsewhere.adds('model', 'A'), review })
    elsewhere.run({ ...elsewhere.adds('model', 'B'), review: { ...review, review_id: 'review-2' } })
    const outcomes = [late, stopped, elsewhere].flatMap(({ log }) => cardsIn(log).map(({ outcome }) => outcome))
    expect(outcomes).toEqual(['timed_out', 'stopped', 'superseded'])
  })
})

describe('work in a thread', () => {
  it('is told by step: what was said, tools, claims, verdicts and checks; bookkeeping is left out', () => {
    expect(told(threadIn(corpusLog('planned')))).toEqual([
      'turn-1:',
      'user: Report on the third quarter',
      'assistant: A plan first.',
      'plan changes_requested: 1 steps, 0 edited, 0 added, 0 removed: More steps',
      'plan approved: 3 steps, 1 edited, 1 added, 1 removed: Good',
      'step 1 Collect all figures [completed]',
      '  says I read the file.',
      '  uses read_file ok',
      '  claims completed: Some figures.: refused',
      '  judged not_ok: figures for March are missing',
      '  claims completed: Twelve figures.: granted',
      '  judged ok: ',
      'step 2 Send it [blocked]',
      '  says I cannot send it.',
      'followed up 2 times, 2 answers',
      'assistant: One step is blocked.',
      'incomplete 1 of 2 done, 1 blocked, 0 open',
      'turn-2:',
      'user: Go on',
      'step 2 Send it [completed]',
      '  says I have an address now.',
      '  claims completed: Sent.: granted',
      '  judged ok: ',
      'assistant: Sent.',
      'done 2 of 2 done, 0 blocked, 0 open',
    ])
  })

  it('runs of checks stand at their step with their check, and what an agent elsewhere reports', () => {
    expect(told(threadIn(corpusLog('proven')))).toEqual([
      'fix_1:',
      'plan approved: 2 steps, 1 edited, 0 added, 0 removed',
      'step 1 Fix the parser [completed]',
      '  reports Bash npm test failed',
      '  reports Bash npm test ok',
      '  claims completed: It parses.: refused',
      '  runs command claim failed 880 ms',
      '  claims completed: It parses now.: granted',
      '  runs command claim passed 910 ms',
      'step 2 Write the notes [in_progress]',
      '  runs file person inconclusive 250 ms',
      '  claims completed: Written.: waits',
      'goes on 1 of 2 done, 0 blocked, 1 open',
    ])
  })

  it('of many reports the newest fifty of a task are told', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A', 'B'))
    for (let count = 0; count < 60; count += 1) {
      const call = { tool: 'Bash', arguments: { command: `echo ${count}` }, answer: '', ok: true }
      chat.run({ type: 'add_evidence', evidence_id: `evd-${count}`, source: 'host', ...call })
    }
    const [turn] = threadIn(chat.log)
    const [step] = turn?.items.flatMap(item => (item.kind === 'step' ? [item.step] : [])) ?? []
    expect(step?.items).toHaveLength(50)
    expect(step?.items.at(0)).toMatchObject({ kind: 'report', subject: 'echo 10' })
  })

  it('a step that was removed keeps its name', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.removes('person', 1))
    expect(told(threadIn(chat.log))).toContain('step 1 A [removed]')
  })

  it('a step that a person put aside and took back is none until it is worked on, in the order of the work', () => {
    const chat = inRun()
    const steps = () => told(threadIn(chat.log)).filter(line => line.startsWith('step'))
    chat.run(chat.adds('model', 'A', 'B', 'C'))
    chat.run(chat.sets('person', 3, { status: 'cancelled' }))
    expect(steps()).toEqual(['step 1 A [in_progress]', 'step 3 C [cancelled]'])
    chat.run(chat.sets('person', 3, { status: 'pending' }))
    expect(steps()).toEqual(['step 1 A [in_progress]'])
    const done = { status: 'completed', outcome: 'x' } as const
    for (const task of [1, 2, 3]) chat.run(chat.sets('model', task, done, { basis: chat.state.seq }))
    expect(steps()).toEqual(['step 1 A [completed]', 'step 2 B [completed]', 'step 3 C [completed]'])
  })

  it('a step with work in it stays when it is pending again', () => {
    const chat = outside()
    chat.run(chat.adds('model', 'A', 'B'))
    const call = { tool: 'Bash', arguments: { command: 'ls' }, answer: '', ok: true }
    chat.run({ type: 'add_evidence', evidence_id: 'evd-1', source: 'host', ...call })
    chat.run(chat.sets('person', 1, { status: 'cancelled' }))
    chat.run(chat.sets('person', 1, { status: 'pending' }))
    expect(told(threadIn(chat.log))).toContain('step 1 A [pending]')
  })

  it('a turn that another one continues keeps its steps as it left them: title, status and outcome', () => {
    const chat = inRun({ gate: true })
    const steps = () =>
      threadIn(chat.log).map(({ items }) => items.flatMap(item => (item.kind === 'step' ? item.step : [])))
    chat.run(chat.adds('model', 'A', 'B', 'C'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'a' }))
    chat.run(chat.sets('model', 2, { status: 'blocked', outcome: 'No key.' }))
    chat.wait(1).finish('turn-1')
    // Until then it follows what a person does.
    chat.run(chat.sets('person', 1, { title: 'A!' }))
    expect(steps()).toMatchObject([[{ title: 'A!' }, { status: 'blocked', outcome: 'No key.' }, { title: 'C' }]])
    chat.run(chat.sets('person', 2, { status: 'pending' }))
    chat.wait(1).start('turn-2', {}, 'turn-1')
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'b' }, { basis: chat.state.seq }))
    chat.run(chat.removes('person', 3))
    expect(steps()).toMatchObject([
      [
        { title: 'A', status: 'completed', outcome: 'a', taken_up: 'plan' },
        { title: 'B', status: 'blocked', outcome: 'No key.', taken_up: 'task' },
        { title: 'C', status: 'in_progress' },
      ],
      [{ title: 'B', status: 'completed', outcome: 'b' }, ...(steps()[1]?.slice(1) ?? [])],
    ])
    expect(steps()[1]?.[0]?.taken_up).toBeUndefined()
  })

  it('so does a step whose task a later turn works on, of another plan or not', () => {
    const chat = inRun()
    chat.run(chat.adds('model', 'A'))
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'No key.' }))
    chat.wait(1).finish('turn-1')
    chat.wait(1).start('turn-2')
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'a' }, { turn_id: 'turn-2' }))
    expect(told(threadIn(chat.log)).filter(line => line.startsWith('step'))).toEqual([
      'step 1 A [blocked]',
      'step 1 A [completed]',
    ])
  })

  it('a check that runs again, at the end or for a person, takes up no step: earlier turns stay as they ended', () => {
    const plan = new Plan(approved('A', NPM), { title: 'B' })
    plan.runs('failed')
    plan.claims(1)
    plan.runs('passed')
    plan.resumes(1)
    plan.answer()
    plan.run(plan.sets('model', 2, { status: 'blocked', outcome: 'No key.' }))
    plan.run(plan.sets('person', 2, { status: 'pending' }))
    plan.wait(1).start('turn-2', { review: false, assessor: false, gate: false }, 'turn-1')
    plan.run(plan.sets('model', 2, { status: 'completed', outcome: 'Done' }, { basis: plan.state.seq }))
    const thread = () => told(threadIn(plan.log)).filter(line => /^(turn|step|run| {2}runs)/.test(line))
    const before = thread()
    expect(before.slice(-2)).toEqual(['turn-2:', 'step 2 B [completed]'])
    plan.run({ type: 'request_final', turn_id: 'turn-2', fingerprint: 'f2' })
    plan.runs('passed', { fingerprint: 'f2' }, 'turn-2')
    expect(thread()).toEqual(before)
    const [first] = threadIn(plan.log)
    expect(first?.items.find(({ kind }) => kind === 'step')).not.toMatchObject({ step: { taken_up: 'task' } })
    // One that fails is work again: its step says why.
    plan.run({ type: 'request_final', turn_id: 'turn-2', fingerprint: 'f3' })
    plan.runs('failed', { fingerprint: 'f3' }, 'turn-2')
    expect(thread().slice(before.length)).toEqual([
      'step 1 A [in_progress]',
      '  runs command final passed 5 ms',
      '  runs command final failed 5 ms',
    ])
  })

  it('the names of all tools of every toolset are known', () => {
    const names = Object.values(toolsets).map(({ name, tools }) => [name, tools.map(tool => tool.name)])
    expect(OWN_TOOLS).toEqual(Object.fromEntries(names))
  })

  it('what a model claimed last can be taken over by a person who accepts it', () => {
    const log = corpusLog('planned')
    const [first] = dataOf(log, 'task_created')
    const until = log.findIndex(({ type }) => type === 'claim_settled')
    expect(claimedOutcome(threadLog.of(log.slice(0, until)), first?.task.id ?? '')).toBe('Some figures.')
    expect(claimedOutcome(threadLog.of(log), first?.task.id ?? '')).toBe('Twelve figures.')
    expect(claimedOutcome(threadLog.of(log), 'nowhere')).toBeUndefined()
  })
})

describe('the end of a turn in a thread', () => {
  it('counts the whole plan, as it was when the turn ended, and of the last turn as it is now', () => {
    const chat = inRun({ gate: true })
    chat.run(chat.adds('model', 'A', 'B', 'C'))
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }))
    chat.run(chat.sets('model', 2, { status: 'blocked', outcome: 'No key.' }))
    chat.wait(1).finish('turn-1')
    expect(threadIn(chat.log)).toMatchObject([
      { tally: { total: 3, done: 1, blocked: 1, open: 1 }, end: { left: 'open' } },
    ])
    chat.wait(1).start('turn-2', {}, 'turn-1')
    expect(threadIn(chat.log)).toMatchObject([{ end: { left: undefined } }, { end: undefined }])
    chat.run(chat.sets('model', 3, { status: 'completed', outcome: 'y' }))
    const [finished] = dataOf(chat.wait(1).finish('turn-2'), 'turn_finished')
    expect(finished).toMatchObject({ counts: { completed: 2, blocked: 1, open: 0 }, standings: { reported: 2 } })
    expect(threadIn(chat.log)).toMatchObject([
      { tally: { total: 3, done: 1, blocked: 1, open: 1 }, end: { status: 'incomplete', left: undefined } },
      { tally: { total: 3, done: 2, blocked: 1, open: 0 }, end: { left: 'blocked' } },
    ])
    // Accepted by the person: the last end says so.
    chat.run(chat.sets('person', 2, { status: 'completed' }))
    expect(threadIn(chat.log).at(-1)).toMatchObject({ tally: { done: 3, blocked: 0, standings: { confirmed: 1 } } })
    expect(threadIn(chat.log).at(-1)?.end?.left).toBeUndefined()
  })

  it('[PL3] what was blocked in an earlier turn and is reopened joins the turn that goes on', () => {
    const chat = inRun({ gate: true })
    chat.run(chat.adds('model', 'A', 'B'))
    chat.run(chat.sets('model', 1, { status: 'blocked', outcome: 'No key.' }))
    chat.wait(1).finish('turn-1')
    chat.wait(1).start('turn-2', {}, 'turn-1')
    chat.run(chat.sets('model', 2, { status: 'completed', outcome: 'y' }))
    chat.wait(1).finish('turn-2')
    chat.run(chat.sets('person', 1, { status: 'pending' }))
    chat.wait(1).start('turn-3', {}, 'turn-2')
    chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'x' }, { basis: chat.state.seq }))
    chat.wait(1).finish('turn-3')
    expect(threadIn(chat.log).at(-1)).toMatchObject({ tally: { total: 2, done: 2 }, end: { status: 'done' } })
  })

  it('follow-ups of the gate are one item, and so are the answers that they followed', () => {
    const lines = told(threadIn(corpusLog('steered')))
    expect(lines.filter(line => line.startsWith('followed up'))).toEqual(['followed up 1 times, 1 answers'])
    expect(lines).not.toContain('assistant: The changelog is written.')
  })

  it('a turn that failed says why', () => {
    const [failed] = threadIn(corpusLog('steered'))
    expect(failed?.end).toMatchObject({ status: 'failed', failure: { code: expect.any(String) } })
  })
})

it('what Runsheet added to the last answer is not told: the end of the turn says it', () => {
  const log = corpusLog('planned')
  const last = log.findLast(({ type }) => type === 'message_added')
  const cutTo = (answer_length: number) =>
    log.map(event => (event === last ? { ...event, data: { ...event.data, answer_length } } : event) as StoredEvent)
  const texts = (events: readonly StoredEvent[]): string[] =>
    threadIn(events)
      .flatMap(({ items }) => items.flatMap(item => (item.kind === 'message' ? item.message : [])))
      .flatMap(({ role, text }) => (role === 'assistant' && text !== '' ? text : []))
  const whole = texts(log)
  expect(texts(cutTo(3))).toEqual([...whole.slice(0, -1), whole.at(-1)?.slice(0, 3)])
  expect(texts(cutTo(0))).toEqual(whole.slice(0, -1))
})

it('an answer that was cut is told with the reason, also if nothing is left of it', () => {
  const log = corpusLog('planned')
  const last = log.findLast(({ type }) => type === 'step_finished')
  for (const answer_length of [0, 3]) {
    const cut = { cut: 'content_filter', answer_length } as const
    const changed = log.map(event =>
      event === last ? ({ ...event, data: { ...event.data, ...cut } } as StoredEvent) : event,
    )
    const said = threadIn(changed).flatMap(({ items }) =>
      items.flatMap(item => (item.kind === 'message' ? item.message : [])),
    )
    expect(said.filter(each => each.cut === 'content_filter').map(({ text }) => text.length)).toEqual([answer_length])
  }
})

it('a claim that was not accepted is known until the judge says otherwise, unless a person changed the task', () => {
  const verdict = (task_id: string, verdict: 'ok' | 'not_ok', more: { fenced?: true } = {}) =>
    ({
      kind: 'verdict',
      at: START,
      task_id,
      verdict,
      reason: `why ${task_id}`,
      model: 'm',
      seal: 's',
      ...more,
    }) as const
  const thread = {
    t1: [verdict('old', 'not_ok')],
    t2: [verdict('a', 'not_ok'), verdict('b', 'not_ok'), verdict('a', 'ok'), verdict('c', 'not_ok', { fenced: true })],
  }
  expect([...rejectedIn(thread, 't2')]).toEqual([['b', 'why b']])
  expect([...rejectedIn(thread, null)]).toEqual([])
})

it('folded event by event, a thread is the same as from the whole log, and from a snapshot as from the state', () => {
  for (const name of CORPUS) {
    const log = corpusLog(name)
    const stepwise = log.reduce(
      (known, event) => view.apply(JSON.parse(JSON.stringify(known)) as typeof known, event),
      view.initial,
    )
    expect(stepwise).toEqual(view.of(log))
    for (let end = 0; end <= log.length; end += 1) expect(() => threadIn(log.slice(0, end))).not.toThrow()
  }
})

it('the turn of an agent elsewhere is settled once nothing of its plan is open and no review waits', () => {
  const chat = outside()
  const settled = () => threadIn(chat.log).map(({ is_settled = false, end }) => [is_settled, end])
  expect(settled()).toEqual([[false, undefined]])
  chat.run(chat.adds('model', 'A', 'B'))
  chat.run(chat.sets('model', 1, { status: 'completed', outcome: 'Yes' }))
  expect(settled()).toEqual([[false, undefined]])
  chat.run(chat.sets('model', 2, { status: 'blocked', outcome: 'No key' }))
  expect(settled()).toEqual([[true, undefined]])
  expect(threadIn(chat.log)[0]?.tally).toMatchObject({ total: 2, done: 1, blocked: 1, open: 0 })
  chat.run(chat.adds('model', 'C'))
  expect(settled()).toEqual([[false, undefined]])
  const reviewed = outside('runsheet', { review: true })
  reviewed.run(reviewed.adds('person', 'A'))
  reviewed.run(reviewed.sets('person', 1, { status: 'completed' }))
  reviewed.run(reviewed.adds('model', 'B'))
  expect(threadIn(reviewed.log)[0]).not.toHaveProperty('is_settled')
  const own = inRun()
  own.run(own.adds('person', 'A'))
  own.run(own.sets('person', 1, { status: 'completed' }))
  expect(threadIn(own.log)[0]).not.toHaveProperty('is_settled')
})

it('items for a person have no tally, and leave nothing to go on with', () => {
  const chat = inRun({ toolset: 'checklist' })
  chat.run(chat.adds('model', 'Buy milk', 'Ask Ann'))
  chat.run(chat.sets('model', 2, { status: 'completed' }))
  chat.finish('turn-1')
  const [turn] = threadIn(chat.log)
  expect(turn?.tally).toBeUndefined()
  expect(turn?.end).toMatchObject({ status: 'done', left: undefined })
})
