import { describe, expect, it } from 'vitest'
import { underReview } from '../../../test/support/domain.ts'
import type { SomeFields } from '../../core/model/fields.ts'
import type { ReviewRequest } from '../../core/model/review.ts'
import {
  answerIn,
  changesForm,
  choiceForm,
  type FormAnswer,
  type FormContent,
  type FormOptions,
} from './review-form.ts'

function reviewOf(...rows: readonly (string | SomeFields)[]): ReviewRequest {
  const review = underReview(...rows).state.reviews.get('review-1')
  if (!review) throw new Error('no review was opened')
  return review
}

const PLAIN: FormOptions = { pageUrl: 'http://page/', kind: 'plain' }
const ROWS: FormOptions = { pageUrl: 'http://page/', kind: 'rows' }
const FULL = { title: 'A', details: 'soon,\n2. at once', criteria: 'seen', priority: 'high', tags: ['x', 'y'] } as const

const fieldsOf = (review: ReviewRequest, options: FormOptions, content?: FormContent): Record<string, unknown> =>
  choiceForm(review, options, content && { message: 'Task 1: no.', content }).requestedSchema.properties

describe('the first form', () => {
  it('[MC15] is one choice, required and without a default, with the numbered plan as its message', () => {
    const form = choiceForm(reviewOf('Look', { title: 'Leap', criteria: 'landed' }), PLAIN)
    expect(form).toEqual({
      mode: 'form',
      message:
        'The agent proposes 2 tasks. Nothing is written unless you approve.\nThe page: http://page/\n\n1. Look\n2. Leap\n   Done when: landed',
      requestedSchema: {
        type: 'object',
        properties: {
          decision: {
            type: 'string',
            title: 'Decision',
            enum: ['Approve as proposed', 'Request changes', 'Reject', 'Edit on the page'],
          },
        },
        required: ['decision'],
      },
    })
  })

  it('[MC15] shows everything that a row says, each on a line of its own that cannot pass for a row', () => {
    const { message } = choiceForm(reviewOf(FULL, { title: 'B', status: 'completed' }), PLAIN)
    expect(message.split('\n').slice(3)).toEqual([
      '1. A',
      '   soon, 2. at once',
      '   Done when: seen',
      '   high priority, tags: x, y',
      '2. B',
      '   starts as done',
    ])
  })

  it('[MC15] offers the page only where there is one', () => {
    const without = { pageUrl: undefined, kind: 'plain' } as const
    expect(fieldsOf(reviewOf('A'), without)).toMatchObject({
      decision: { enum: ['Approve as proposed', 'Request changes', 'Reject'] },
    })
    expect(choiceForm(reviewOf('A'), without).message).not.toContain('The page')
  })

  it('[MC15] shows the plan as fields where the client draws them as sent', () => {
    const review = reviewOf(FULL, 'B')
    const fields = fieldsOf(review, ROWS)
    expect(Object.keys(fields)).toEqual(['decision', 'title_1', 'title_2', 'title_3', 'title_4', 'remove', 'comment'])
    expect(fields).toMatchObject({
      decision: { default: 'Approve as shown' },
      title_1: {
        title: 'Task 1',
        default: 'A',
        description: 'soon, 2. at once · Done when: seen · high priority, tags: x, y',
      },
      title_3: { title: 'Another task (optional)' },
    })
    expect(fields).not.toHaveProperty('title_3.default')
    expect(choiceForm(review, ROWS).message).not.toContain('1. A')
  })

  it('[MC15] has no more rows than a plan holds tasks', () => {
    const titles = (count: number): string[] =>
      Object.keys(fieldsOf(reviewOf(...Array.from({ length: count }, (_, row) => `Task ${row}`)), ROWS)).filter(name =>
        name.startsWith('title_'),
      )
    expect([17, 18, 19, 20].map(count => titles(count).length)).toEqual([19, 20, 20, 20])
  })

  it('shows what was typed, with the reason, when it is asked again', () => {
    const content = { decision: 'Approve as shown', title_1: 'A2', remove: '7', comment: 'Hm' }
    expect(fieldsOf(reviewOf('A', 'B'), ROWS, content)).toMatchObject({
      title_1: { default: 'A2' },
      title_2: { default: 'B' },
      remove: { default: '7' },
      comment: { default: 'Hm' },
    })
    const error = { message: 'Task 1: no.', content }
    expect(choiceForm(reviewOf('A'), ROWS, error).message).toMatch(/^Task 1: no\. The agent proposes 1 task\./)
    expect(changesForm(error).message).toMatch(/^Task 1: no\. What should the agent change\?/)
  })
})

describe('the answer in a form', () => {
  const review = reviewOf('A', 'B')
  const chosen = (decision: string, content: FormContent = {}): FormAnswer =>
    answerIn('choice', review, { decision, ...content })
  const approved = (content: FormContent): unknown => {
    const answer = chosen('Approve as shown', content)
    return answer.kind === 'decision' && answer.decision.action === 'confirm' ? answer.decision.tasks : answer
  }

  it('[MC15] approving as proposed keeps every row', () => {
    expect(chosen('Approve as proposed')).toMatchObject({
      decision: { action: 'confirm', tasks: [{ draft_index: 0 }, { draft_index: 1 }] },
    })
  })

  it('[MC15] rejecting, requesting changes and editing on the page are the other choices', () => {
    expect(chosen('Reject')).toMatchObject({ decision: { action: 'cancel' } })
    expect(chosen('Request changes')).toEqual({ kind: 'changes' })
    expect(chosen('Edit on the page')).toEqual({ kind: 'page' })
    expect(chosen('Request changes', { comment: 'Shorter' })).toMatchObject({
      decision: { action: 'revise', comment: 'Shorter' },
    })
  })

  it('[MC15] the second form says what to change', () => {
    const answer = (content: FormContent): FormAnswer => answerIn('changes', review, content)
    expect(answer({ comment: 'Shorter' })).toMatchObject({ decision: { action: 'revise', comment: 'Shorter' } })
    expect(answer({ comment: ' ' })).toEqual({ kind: 'invalid', message: 'Say what to change.' })
    expect(answer({})).toEqual({ kind: 'nothing' })
  })

  it.each([
    ['missing', {}],
    ['empty', { title_1: '', title_2: ' ' }],
    ['as it was', { title_1: 'A', title_2: 'B' }],
  ])('[MC15] a row whose title is %s stays as it is', (_, content) => {
    const tasks = [
      { draft_index: 0, ...('title_1' in content && content.title_1 ? { title: 'A' } : {}) },
      { draft_index: 1, ...('title_2' in content && content.title_2?.trim() ? { title: 'B' } : {}) },
    ]
    expect(approved(content)).toEqual(tasks)
  })

  it('[MC15] only its number removes a row; a reworded and an added one count', () => {
    expect(approved({ title_1: 'A2', remove: '2', title_4: 'D' })).toEqual([
      { title: 'A2', draft_index: 0 },
      { title: 'D' },
    ])
    expect(approved({ remove: '1; 2', title_3: 'C' })).toEqual([{ title: 'C' }])
  })

  it('[MC15] says which row of the form each task came from', () => {
    expect(chosen('Approve as shown', { remove: '1', title_4: 'D' })).toMatchObject({ formRows: [2, 4] })
  })

  it.each(['3', '0', 'the second', '1.5'])('a removal of %j is refused', remove => {
    expect(approved({ remove })).toEqual({
      kind: 'invalid',
      message: 'To remove tasks, give their numbers from 1 to 2.',
    })
  })

  it('[MC15] a comment goes with the decision, unless it is blank', () => {
    expect(chosen('Reject', { comment: 'no' })).toMatchObject({ decision: { action: 'cancel', comment: 'no' } })
    expect(chosen('Approve as shown', { comment: ' ' })).not.toHaveProperty('decision.comment')
  })

  it.each([{}, { decision: 'yes' }, { decision: 5 }, { title_1: 'A', comment: 'Fine' }])(
    '[MC15] a form without one of its choices says nothing: %j',
    content => {
      expect(answerIn('choice', review, content)).toEqual({ kind: 'nothing' })
    },
  )
})

describe('checks in a form', () => {
  const test = { kind: 'command', run: ['npm', 'test', '--', 'a b'], cwd: 'web', contains: 'pass 12' } as const
  const review = reviewOf(
    { title: 'A', checks: [{ ...test, id: 'c1', hash: 'h1' }] },
    { title: 'B', checks: [{ kind: 'file', path: 'b.md', id: 'c2', hash: 'h2' }] },
    'C',
  )
  const long = { ...test, run: ['npm', 'test', '--', 'a'.repeat(50)] } as const
  const APPROVE = 'Approve as proposed, and let its 2 checks run'

  it('[HO12] are shown in full, and the choice that approves says that it lets them run', () => {
    const { message, requestedSchema } = choiceForm(review, PLAIN)
    expect(message.split('\n').slice(3)).toEqual([
      '1. A',
      `   Check: npm test -- 'a b' (in web, contains "pass 12")`,
      '2. B',
      '   Check: b.md exists',
      '3. C',
    ])
    expect(requestedSchema.properties).toMatchObject({ decision: { enum: expect.arrayContaining([APPROVE]) } })
    expect(fieldsOf(review, ROWS)).toMatchObject({
      decision: { default: 'Approve as shown, and let its 2 checks run' },
      title_2: { description: 'Check: b.md exists' },
    })
  })

  it('[HO12] are allowed by approving the form that shows them, each for its own task', () => {
    expect(answerIn('choice', review, { decision: APPROVE })).toMatchObject({
      decision: {
        tasks: [{ draft_index: 0, approve: ['h1'] }, { draft_index: 1, approve: ['h2'] }, { draft_index: 2 }],
      },
    })
    expect(answerIn('choice', review, { decision: 'Approve as proposed' })).toEqual({ kind: 'nothing' })
  })

  it.each([
    ['with invisible characters', { ...test, contains: 'a\u200bb' }, PLAIN, 'Approve as proposed, without its check'],
    ['too long for the line of a row', long, ROWS, 'Approve as shown, without its check'],
  ])('[HO12] one %s is not shown, and not allowed', (_, check, options, decision) => {
    const hidden = reviewOf({ title: 'A', checks: [{ ...check, id: 'c1', hash: 'h1' }] })
    const form = JSON.stringify(choiceForm(hidden, options))
    expect(form).toContain('Its check cannot be shown here: allow it on the page')
    expect(form).not.toContain('npm test')
    expect(form).toContain(decision)
    expect(answerIn('choice', hidden, { decision })).toEqual({
      kind: 'decision',
      decision: { action: 'confirm', tasks: [{ draft_index: 0 }] },
      formRows: [1],
    })
  })

  it('[HO12] a screen that would cut a long plan shows its titles, and allows none', () => {
    const titles = Array.from({ length: 7 }, (_, row) => `Task ${row} ${'x'.repeat(80)}`)
    const rows = titles.map((title, row) => ({ title, checks: [{ ...test, id: `c${row}`, hash: `h${row}` }] }))
    const screen: FormOptions = { pageUrl: 'http://page/', kind: 'screen' }
    const decision = 'Approve as proposed, without its checks'
    const form = choiceForm(reviewOf(...rows), screen)
    const lines = form.message.split('\n')
    expect(lines[3]).toBe('It is long. The page shows all of it; these are the titles:')
    expect(lines.slice(4).map(line => line.slice(0, 9))).toEqual(
      titles.map((_, row) => `${row + 1}. Task ${row}`.slice(0, 9)),
    )
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(76)
    expect(form.requestedSchema.properties).toMatchObject({ decision: { enum: expect.arrayContaining([decision]) } })
    expect(JSON.stringify(answerIn('choice', reviewOf(...rows), { decision }))).not.toContain('"approve"')
    expect(choiceForm(reviewOf(...rows.slice(0, 3)), screen).message).toContain('Check: npm test')
  })
})
