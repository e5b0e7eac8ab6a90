import { existsSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ReviewRequest } from '../../src/domain/review.ts'
import { type CliTurns, startCli } from '../support/cli-turns.ts'
import { scratchFolder } from '../support/scratch.ts'
import { type ChatReader, confirmAll, type Decide } from '../support/turns.ts'

const ENGLISH = 'Fix the greeting in the sandbox, and prove it'
const CHINESE = '修好沙盒里的问候，并证明它'

let data: string
beforeEach(() => {
  data = scratchFolder()
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
})

async function started(env: NodeJS.ProcessEnv = {}): Promise<CliTurns> {
  const server = await startCli({ data, env })
  onTestFinished(() => server.end())
  return server
}

/** A person who confirms every row, with its checks. */
const approving = (review: ReviewRequest) => ({
  action: 'confirm' as const,
  tasks: review.draft_tasks.map(({ title, checks = [] }, draft_index) => ({
    title,
    draft_index,
    approve: checks.map(({ hash }) => hash),
  })),
})
const approveAll: Decide = approving

const inSandbox = (name: string): string => join(data, 'sandbox', name)
const finished = (reader: ChatReader) => reader.of('turn_finished')[0]?.data
const lastWords = (reader: ChatReader): string => reader.of('message_added').at(-1)?.data.text ?? ''
const runs = (reader: ChatReader): string[] =>
  reader.of('check_ran').map(({ data: { why, result } }) => `${why} ${result}`)
const standings = async ({ person }: CliTurns): Promise<unknown[]> =>
  (await person.tasks('c1')).tasks.map(({ standing }) => standing)

describe("the demo's sandbox", () => {
  it.each([
    ['English', ENGLISH, '3 of 3 done: 1 proven, 2 judged.'],
    ['Chinese', CHINESE, '3 of 3 done: 1 proven, 2 judged.'],
  ])('[RC1] a newcomer sees a step go from red to green to proven: %s', async (_, message, tally) => {
    const server = await started()
    const reader = await server.chat({ message }, approveAll)
    expect(reader.of('task_create_review_required')[0]?.data.draft_tasks[1]?.checks).toMatchObject([
      { kind: 'command', run: ['node', '--test'] },
    ])
    // Red at the start; red for the first claim, which fixed half of it; green for the second.
    expect(runs(reader).slice(0, 3)).toEqual(['baseline failed', 'claim failed', 'claim passed'])
    expect(reader.of('claim_settled').map(({ data }) => `${data.result} ${data.because}`)).toEqual([
      'granted judge',
      'refused check_failed',
      'granted judge',
      'granted judge',
    ])
    expect(await standings(server)).toEqual(['judged', 'proven', 'judged'])
    expect(finished(reader)).toMatchObject({ status: 'done', standings: { proven: 1, judged: 2, reported: 0 } })
    expect(lastWords(reader)).toContain(tally)
    expect(readFileSync(inSandbox('greeting.mjs'), 'utf8')).toContain("greet(name = 'stranger')")
  })
})
