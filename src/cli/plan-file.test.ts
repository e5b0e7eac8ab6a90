import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Check, CheckSpec } from '../domain/check.ts'
import { cleanCheck } from '../domain/check.ts'
import { cleanFields } from '../domain/fields.ts'
import { Refusal } from '../domain/refusal.ts'
import { confirmedRows, type DraftRow } from '../domain/review.ts'
import type { RowStatus } from '../domain/row.ts'
import { PRIORITIES } from '../domain/task.ts'
import { plainMaker, preparedRows } from '../door/checks.ts'
import { commentLines, parsePlan, PlanFileError, printPlan } from './plan-file.ts'
import { type PlanRow, rowsOf, sentRows } from './plan-rows.ts'

const BLANK = { details: '', criteria: '', priority: 'medium', status: 'todo', tags: [] } as const
const draftOf = (...rows: readonly Partial<DraftRow>[]): DraftRow[] =>
  rows.map((row, index) => ({ ...BLANK, title: `Step ${index + 1}`, ...row }))
const NPM: Check = { kind: 'command', run: ['npm', 'test'], id: 'c1', hash: 'h-npm' }
const DOCS: Check = { kind: 'file', path: 'docs/a.md', contains: 'ready', id: 'c2', hash: 'h-docs' }

const edited = (text: string, draft: readonly DraftRow[]): readonly PlanRow[] => parsePlan(text, draft).rows
const problem = (text: string, draft = draftOf({}, {})): string => {
  try {
    parsePlan(text, draft)
  } catch (error) {
    if (error instanceof PlanFileError) return `${error.line}: ${error.message}`
    throw error
  }
  throw new Error('nothing is wrong with it')
}

describe('a plan as text', () => {
  it('shows each step with all that it says', () => {
    const draft = draftOf(
      {
        title: 'Collect the figures',
        details: 'All twelve months.\n\n## not a step',
        criteria: 'the table is full',
        priority: 'high',
        tags: ['a', 'b, c'],
        checks: [NPM, DOCS],
        scope: ['test/**'],
        allowed: ['h-docs'],
      },
      { title: 'Write' },
    )
    expect(printPlan({ rows: rowsOf(draft), comment: '' }, draft, { notes: () => ['under: 3 Report'] })).toBe(
      [
        '## [1] Collect the figures',
        '# under: 3 Report',
        '',
        'All twelve months.',
        '',
        String.raw`\## not a step`,
        '',
        'Done when: the table is full',
        '',
        '- priority: high',
        '- tags: a, "b, c"',
        '- may change: test/**',
        '- [x] npm test',
        '- [*] file: docs/a.md',
        '  contains: "ready"',
        '',
        '## [2] Write',
        '# under: 3 Report',
        '',
      ].join('\n'),
    )
  })

  it('rows can be reworded, moved, deleted and added, and keep what makes them the proposed ones', () => {
    const draft = draftOf({ parent_id: 'p', checks: [NPM] }, {}, {})
    const rows = edited('## [3] Last first\n\n## My own\nwith details\n\n## [1] Step 1\n- [ ] npm test\n', draft)
    expect(rows).toMatchObject([
      { draft_index: 2, title: 'Last first' },
      { title: 'My own', details: 'with details' },
      { draft_index: 0, title: 'Step 1', checks: [{ check: NPM, isApproved: false }] },
    ])
    expect(rows[1]).not.toHaveProperty('draft_index')
    expect(sentRows(rows, draft)).toEqual([
      { ...BLANK, title: 'Last first', checks: [], scope: [], draft_index: 2 },
      { ...BLANK, title: 'My own', details: 'with details', checks: [], scope: [], draft_index: null },
      { draft_index: 0 },
    ])
  })

  it('a mark lets a proposed check run; one that the person writes is theirs', () => {
    const draft = draftOf({ checks: [NPM] }, { checks: [DOCS] })
    const rows = edited(
      '## [1] Step 1\n- [X] npm test\n- [x] npm run lint\n  in: web\n  timeout: 90s\n## [2] Step 2\n',
      draft,
    )
    expect(sentRows(rows, draft)).toEqual([
      {
        ...BLANK,
        title: 'Step 1',
        checks: [NPM, { kind: 'command', run: ['npm', 'run', 'lint'], cwd: 'web', timeout_ms: 90_000 }],
        scope: [],
        draft_index: 0,
        approve: ['h-npm'],
      },
      { ...BLANK, title: 'Step 2', checks: [], scope: [], draft_index: 1 },
    ])
  })

  it('text above the first step is a comment, and lines with # are ignored', () => {
    const { comment, rows } = parsePlan('# help\nPlease hurry.\n\n## A\n# no details\nyes\n', [])
    expect(comment).toBe('Please hurry.')
    expect(rows).toMatchObject([{ title: 'A', details: 'yes' }])
  })

  it('an emptied text has no rows', () => {
    const help = commentLines(['Help', '## [1] Title'])
    expect(parsePlan('', draftOf({})).rows).toEqual([])
    expect(parsePlan(`\n${help}\n`, draftOf({})).rows).toEqual([])
  })

  it.each([
    ['## [3] X', '1: there is no step [3]: the proposed steps are 1 to 2. A step of your own has no number'],
    ['## [1] X\n## [1] Y', '2: step [1] is on line 1 already. Take the number out to add this one as your own'],
    ['## [1] X\n\n##\n', '3: a step needs a title: ## Title'],
    ['## [1] X\n- priority: urgent', '2: priority must be one of: high, medium, low'],
    ['## [1] X\n- status: todo\n- status: done', '3: the step has "status" twice'],
    ['## [1] X\nDone when: a\nDone when: b', '3: the step has "Done when:" twice'],
    ['## [1] X\n- [ ] npm test', '2: a check that you write is yours and runs. Mark it [x], or delete it'],
    [
      '## [1] X\n- [*] npm test',
      '2: [*] is for checks that your configuration allows. Mark this one [x] to let it run',
    ],
    [
      '## [1] X\n- [x] npm test\n  until: noon',
      '3: "until" says nothing about a check. Possible below one: in, exit, contains, timeout, hidden',
    ],
    ['## [1] X\n- [x] npm test\n  exit: no', '3: "no" is not a whole number'],
    ['## [1] X\n- [x]', '2: a check needs a command after its mark: - [x] npm test'],
    [
      '## [1] X\n- [x] npm test | tee log',
      expect.stringContaining('2: the check must be one command without shell syntax') as string,
    ],
  ])('says on which line a mistake is: %j', (text, expected) => {
    expect(problem(text)).toEqual(expected)
  })
})

const unicode = fc.string({ unit: 'binary', maxLength: 60 })
const tricky = fc.constantFrom(
  '## [1] x',
  '# no',
  '##',
  '#',
  '- [x] npm test',
  '- tags: a',
  'Done when: b',
  '  in: c',
  '\\',
  '\\## a',
  '\\\\# b',
  ' ',
  '',
)
const prose = fc.array(fc.oneof(unicode, tricky), { maxLength: 5 }).map(lines => lines.join('\n'))
const short = fc.oneof(unicode, tricky)

const spec: fc.Arbitrary<CheckSpec> = fc
  .oneof(
    fc.record(
      {
        kind: fc.constant('command' as const),
        run: fc.array(fc.oneof(unicode, fc.constantFrom('npm', "it's", 'file: x', 'run:', '$HOME', '"', '')), {
          minLength: 1,
          maxLength: 4,
        }),
        cwd: short,
        exit: fc.nat(255),
        contains: prose,
        timeout_ms: fc.integer({ min: 1_000, max: 3_600_000 }),
        hidden: fc.boolean(),
      },
      { requiredKeys: ['kind', 'run'] },
    ),
    fc.record({ kind: fc.constant('file' as const), path: short, contains: prose }, { requiredKeys: ['kind', 'path'] }),
    fc.record({ kind: fc.constant('file' as const), path: short, absent: fc.constant(true as const) }),
    fc.record({
      kind: fc.constant('unchanged' as const),
      paths: fc.array(short, { minLength: 1, maxLength: 3 }),
      hidden: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('person' as const), ask: short }),
  )
  .map(raw => cleanCheck(raw, 'check'))
  .filter((clean): clean is CheckSpec => !(clean instanceof Refusal))

const draftRow: fc.Arbitrary<DraftRow> = fc
  .record({
    fields: fc
      .record({
        title: short,
        details: prose,
        criteria: prose,
        tags: fc.array(short, { maxLength: 4 }),
        scope: fc.array(short, { maxLength: 3 }),
      })
      .map(raw => cleanFields(raw))
      .filter(clean => !(clean instanceof Refusal)),
    priority: fc.constantFrom(...PRIORITIES),
    status: fc.constantFrom<RowStatus>('todo', 'blocked', 'done'),
    specs: fc.uniqueArray(spec, { maxLength: 3, selector: each => plainMaker.hash(each, undefined) }),
    isAllowed: fc.boolean(),
    parent_id: fc.constantFrom(undefined, 'task-1'),
    order: fc.constantFrom(undefined, 2),
    agent_type: fc.constantFrom(undefined, 'tester'),
  })
  .map(({ fields, priority, status, specs, isAllowed, parent_id, order, agent_type }) => {
    const checks = specs.map((each, index) => ({ ...each, id: `c${index}`, hash: plainMaker.hash(each, undefined) }))
    const clean = fields as Pick<DraftRow, 'title' | 'details' | 'criteria' | 'tags'> & { scope: string[] }
    return {
      ...clean,
      priority,
      status,
      ...(checks.length > 0 ? { checks } : {}),
      ...(isAllowed ? { allowed: checks.map(({ hash }) => hash) } : {}),
      ...(parent_id === undefined ? {} : { parent_id }),
      ...(order === undefined ? {} : { order }),
      ...(agent_type === undefined ? {} : { agent_type }),
    }
  })

/** A draft, and a plan that a person may have made of it: rows moved, left out, added and changed, checks unmarked. */
const plans = fc
  .record({
    draft: fc.array(draftRow, { minLength: 1, maxLength: 4 }),
    own: fc.array(draftRow, { maxLength: 2 }),
    seed: fc.infiniteStream(fc.nat(1_000)),
  })
  .map(({ draft, own, seed }) => {
    const next = (): number => Number(seed.next().value)
    const proposed = rowsOf(draft).filter(() => next() > 200)
    const added: PlanRow[] = rowsOf(own).map(({ draft_index: _index, checks, ...row }) => ({
      ...row,
      checks: checks.map(({ check: { id: _id, hash: _hash, ...bare } }) => ({
        check: bare as CheckSpec,
        isApproved: true,
      })),
    }))
    const rows: PlanRow[] = [...proposed, ...added]
      .map(row => ({ row, at: next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ row }) => ({
        ...row,
        checks: row.checks.map(each =>
          each.check.hash === undefined || next() > 500 ? each : { ...each, isApproved: false },
        ),
      }))
    return { draft, rows }
  })

describe('a plan as text, whatever is in it', () => {
  it('what is printed parses to the same rows and comment', () => {
    fc.assert(
      fc.property(plans, prose, ({ draft, rows }, text) => {
        const comment = text.replaceAll(/\r\n?/g, '\n').trim()
        const printed = printPlan({ rows, comment }, draft, { help: ['Help'], notes: () => ['a note'] })
        const parsed = parsePlan(printed, draft)
        expect(parsed.comment).toBe(comment)
        expect(parsed.rows.map(withoutHashes)).toEqual(rows.map(withoutHashes))
        expect(parsed.rows.map(marks)).toEqual(rows.map(marks))
      }),
    )
  })

  it('a plan that is saved as it was opened is confirmed as proposed', () => {
    fc.assert(
      fc.property(fc.array(draftRow, { minLength: 1, maxLength: 4 }), draft => {
        const { rows } = parsePlan(printPlan({ rows: rowsOf(draft), comment: '' }, draft), draft)
        const door = { checks: plainMaker, newId: () => 'new' }
        const confirmed = confirmedRows(draft, preparedRows(sentRows(rows, draft), draft, undefined, door))
        const expected = draft.map((row, draft_index) => expect.objectContaining({ ...row, draft_index }) as unknown)
        expect(confirmed).toEqual(expected)
      }),
    )
  })
})

/** A check that was written anew may be one that was proposed: then it has its hash. */
const withoutHashes = ({ checks, ...row }: PlanRow): unknown => ({
  ...row,
  checks: checks.map(({ check: { id: _id, hash: _hash, ...bare } }) => bare),
})
const marks = ({ checks }: PlanRow): boolean[] => checks.map(({ isApproved }) => isApproved)
