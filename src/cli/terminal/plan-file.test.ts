import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanCheck, type Check, type CheckSpec } from '../../core/proof/check.ts'
import { cleanFields } from '../../core/model/fields.ts'
import { Refusal } from '../../core/model/refusal.ts'
import { confirmedRows, type DraftRow } from '../../core/model/review.ts'
import type { RowStatus } from '../../core/model/row.ts'
import { PRIORITIES } from '../../core/model/task.ts'
import { plainMaker, preparedRows } from '../../engine/door/checks.ts'
import { checkLines, parsePlan, PlanFileError, type PlanRow, printPlan, rowsOf, sentRows } from './plan-file.ts'

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
    if (error instanceof PlanFileError) return error.message
    throw error
  }
  throw new Error('nothing is wrong with it')
}

describe('a plan as YAML', () => {
  it('shows each step with all that it says', () => {
    const draft = draftOf(
      {
        title: 'Collect the figures',
        details: 'All twelve months.\n\n# no comment',
        criteria: 'the table is full',
        priority: 'high',
        tags: ['a', 'b, c'],
        checks: [NPM, DOCS],
        scope: ['test/**'],
        allowed: ['h-docs'],
      },
      { title: 'Write' },
    )
    expect(printPlan({ rows: rowsOf(draft), comment: '' }, draft, { help: ['Help'], notes: () => ['under: 3'] })).toBe(
      `# Help

steps:

- step: 1
  # under: 3
  title: Collect the figures
  details: |-
    All twelve months.

    # no comment
  criteria: the table is full
  priority: high
  tags:
    - a
    - b, c
  scope:
    - test/**
  checks:
    - run: npm test
      approved: true
    - path: docs/a.md
      contains: ready

- step: 2
  # under: 3
  title: Write
`,
    )
  })

  it('rows can be reworded, moved, deleted and added, and keep what makes them the proposed ones', () => {
    const draft = draftOf({ parent_id: 'p', checks: [NPM] }, {}, {})
    const rows = edited(
      `steps:
- { step: 3, title: Last first }
- title: My own
  details: with details
- step: 1
  title: Step 1
  checks: [{ run: npm test, approved: false }]
`,
      draft,
    )
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
    const checks = [
      { run: 'npm test', approved: true },
      { run: 'npm run lint', cwd: 'web', timeout_ms: 90_000 },
    ]
    // JSON is YAML.
    const rows = edited(
      JSON.stringify({
        steps: [
          { step: 1, title: 'Step 1', checks },
          { step: 2, title: 'Step 2' },
        ],
      }),
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

  it('a comment goes to the agent', () => {
    expect(parsePlan('comment: Please hurry.\nsteps: [{ title: A }]', [])).toMatchObject({
      comment: 'Please hurry.',
      rows: [{ title: 'A' }],
    })
  })

  it.each(['', '# Help\n', 'steps:\n', '{}'])('an emptied text has no rows: %j', text => {
    expect(parsePlan(text, draftOf({})).rows).toEqual([])
  })

  it.each([
    [
      '- step: 3\n  title: X',
      'step 1: there is no step 3: the proposed steps are 1 to 2. A step of your own has no number',
    ],
    [
      '- { step: 1, title: X }\n- step: 1\n  title: Y',
      'step 2: step 1 is there twice. Take the number out to add this one as your own',
    ],
    ['- title: X\n- step: 1', 'step 2: a step needs a title'],
    [
      '- title: X\n  priority: urgent',
      expect.stringMatching(/^step 1: priority: .*"high"\|"medium"\|"low"$/) as string,
    ],
    [
      '- title: X\n  status: todo\n  status: done',
      expect.stringMatching(/^Map keys must be unique at line 4, column 3$/) as string,
    ],
    ['- title: X\n  tags: a', 'step 1: tags: Invalid input: expected array, received string'],
    ['- title: X\n  due: noon', expect.stringMatching(/^step 1: Unrecognized key: "due"$/) as string],
    [
      '- title: X\n  checks: [{ run: npm test, approved: false }]',
      'step 1: a check that you write runs. Delete it, or take "approved" out',
    ],
    [
      '- title: X\n  checks:\n  - run: npm test\n    until: noon',
      expect.stringMatching(/^step 1: checks\.0: Unrecognized key: "until"$/) as string,
    ],
    [
      '- title: X\n  checks:\n  - { run: npm test }\n  - { run: a, exit: no }',
      expect.stringMatching(/^step 1: checks\.1\.exit: /) as string,
    ],
    [
      '- title: X\n  checks: [{ run: npm test | tee log }]',
      expect.stringMatching(/^step 1: run must be one command without shell syntax/) as string,
    ],
    ['- title: [', expect.stringMatching(/^Flow sequence.* at line 2/) as string],
  ])('says which step has a mistake: %j', (text, expected) => {
    expect(problem(`steps:\n${text}`)).toEqual(expected)
  })

  it('shows everything that a check says', () => {
    const check = { ...NPM, run: ['npm', 'test', 'a  b'], contains: ' "x"', timeout_ms: 90_000 } as const
    expect(checkLines(check)).toEqual(["npm test 'a  b'", 'contains: " \\"x\\""', 'timeout_ms: 90000'])
    expect(checkLines(DOCS)).toEqual(['path: docs/a.md', 'contains: ready'])
  })
})

const unicode = fc.string({ unit: 'binary', maxLength: 60 })
const tricky = fc.constantFrom(
  '# no',
  '- x',
  'a: b',
  '  in: c',
  '\\',
  '"',
  "'",
  '|',
  '>',
  '~',
  'null',
  '12',
  '---',
  '...',
  '%YAML',
  '&a',
  '*a',
  '!x',
  '\t',
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
          each.check.hash === undefined || each.check.kind === 'person' || next() > 500
            ? each
            : { ...each, isApproved: false },
        ),
      }))
    return { draft, rows }
  })

describe('a plan as YAML, whatever is in it', () => {
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
const marks = ({ checks }: PlanRow): boolean[] => checks.map(each => each.check.kind === 'person' || each.isApproved)
