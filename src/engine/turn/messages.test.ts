import { describe, expect, it } from 'vitest'
import { RunDriver } from '../../../test/support/runs.ts'
import { ASSESSOR } from '../worker/model-judge.ts'
import { ASSISTANT, followUpText, finalMessage } from './messages.ts'

const many = (count: number): string[] => Array.from({ length: count }, (_, place) => `Step ${place + 1}`)

describe('last words', () => {
  it.each([
    ['answered', 'Here it is.'],
    ['budget', 'Here it is.\n\nI stopped here because this turn reached its limit of model calls.'],
    ['gate', 'Here it is.\n\nNo progress after 3 attempts.'],
    ['limit', 'Here it is.\n\nI stopped here because this turn reached its limit of steps in a row.'],
    [
      'unjudged',
      'Here it is.\n\nI stopped here because the assessor gave no clear verdict, and unjudged work does not count as done.',
    ],
    ['repeats', 'Here it is.\n\nI stopped here because I kept repeating the same calls.'],
    ['empty', 'Here it is.\n\nThe model gave no answer.'],
    ['stopped', 'Here it is.\n\nStopped.'],
    ['error', "Here it is.\n\nThe model's provider failed."],
  ] as const)('[TR14] %s: the answer, and why it is over', (because, words) => {
    const run = new RunDriver({ gate: true }).told
    expect(finalMessage(run, because, ' Here it is.\n', "The model's provider failed.")).toBe(words)
  })

  it.each(['budget', 'gate', 'limit', 'unjudged', 'repeats', 'empty', 'stopped'] as const)(
    '[TR14] %s: there are words even where nothing was said',
    because => {
      expect(finalMessage(new RunDriver().told, because, '')).not.toBe('')
    },
  )

  it('[TR14] names what is open and what is blocked, with why', () => {
    const run = new RunDriver({ gate: true }).plan('Read', 'Ask', 'Write', 'Send')
    run.settle(1).run(run.sets('model', 2, { status: 'blocked', outcome: 'Nobody is in' }))
    expect(finalMessage(run.settle(4, 'cancelled').told, 'answered', 'Well.')).toBe(
      'Well.\n\nNot done:\n- Write\n- Ask (blocked: Nobody is in)',
    )
  })

  it('[TR14] names what is left of the whole plan that a turn goes on with', () => {
    const run = new RunDriver({ gate: true }).plan('Read', 'Ask')
    run.settle(1).run(run.sets('model', 2, { status: 'blocked', outcome: 'Nobody is in' }))
    expect(finalMessage(run.continued('turn-2'), 'answered', 'Well.')).toBe(
      'Well.\n\nNot done:\n- Ask (blocked: Nobody is in)',
    )
  })

  it('[TR14] says so of a plan that was cancelled whole', () => {
    const run = new RunDriver({ gate: true }).plan('Read', 'Ask').settle(1, 'cancelled').settle(2, 'cancelled')
    expect(finalMessage(run.told, 'answered', 'Well.')).toBe('Well.\n\nNot done: all tasks were cancelled.')
  })

  it('[TR14] names twenty tasks, and counts the rest', () => {
    const run = new RunDriver({ assessor: true }).plan(...many(20)).plan(...many(5))
    const words = finalMessage(run.told, 'stopped', '')
    expect(words.match(/^- Step/gm)).toHaveLength(20)
    expect(words).toContain('- and 5 more')
  })

  it('[TR14] counts the blocked tasks beyond twenty', () => {
    const run = new RunDriver({ gate: true }).plan(...many(20)).plan(...many(5))
    for (let number = 1; number <= 25; number += 1) run.settle(number, 'blocked')
    const words = finalMessage(run.told, 'answered', 'Well.')
    expect(words.match(/^- Step/gm)).toHaveLength(20)
    expect(words).toContain('- and 5 more (blocked)')
  })

  it('[TR14] says nothing of a plan that neither a judge nor a gate watches over', () => {
    const run = new RunDriver().plan('Read')
    expect(finalMessage(run.told, 'answered', 'Well.')).toBe('Well.')
  })

  it('[TR14] says nothing of a plan that is done', () => {
    const run = new RunDriver({ gate: true }).plan('Read').settle(1)
    expect(finalMessage(run.told, 'answered', 'Well.')).toBe('Well.')
  })
})

describe('the follow-up', () => {
  it('[TR13] names what is open, and says to go on', () => {
    const run = new RunDriver({ gate: true }).plan('Read', 'Write', 'Send').settle(1)
    expect(followUpText(run.told)).toMatch(/^The plan is not finished\. Open: 2 Write; 3 Send\. Continue/)
  })

  it('[TR13] names ten, and counts the rest', () => {
    const run = new RunDriver({ gate: true }).plan(...many(14))
    expect(followUpText(run.told)).toContain('10 Step 10 and 4 more.')
  })

  it('[TR13] is short, however long the titles are', () => {
    const run = new RunDriver({ gate: true }).plan(...many(20).map(title => title.padEnd(400, '.')))
    expect(followUpText(run.told).length).toBeLessThan(1_800)
  })

  it('[TR13] names tasks by the ids that the toolset knows them by', () => {
    const run = new RunDriver({ toolset: 'turn_todos', gate: true }).plan('Read')
    expect(followUpText(run.told)).toContain(`Open: ${run.task(1).id} Read.`)
  })
})

describe('what a model is told of itself', () => {
  it('[JU1] the assessor is told so first; a worker is not', () => {
    expect(ASSESSOR.startsWith('You are the assessor')).toBe(true)
    expect(ASSISTANT).not.toContain('assessor')
  })
})
