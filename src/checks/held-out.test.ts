import { mkdirSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { scratchFolder } from '../../test/support/scratch.ts'
import type { RunnableCheck, RunnableSpec } from '../core/proof/check.ts'
import { redactor } from '../core/text/redact.ts'
import { approvalHash, heldOutHash, heldOutProblem } from './approval.ts'
import type { Place } from './program.ts'
import { runCheck, type CheckRun } from './run-check.ts'
import { NO_CHECK_SETTINGS, problemIn } from './settings.ts'

let workspace: Place['workspace']
let folder: string

beforeEach(() => {
  const root = realpathSync(scratchFolder())
  workspace = { machine: 'here', path: join(root, 'work') }
  folder = join(root, 'held')
  for (const each of [workspace.path, folder]) mkdirSync(each)
  writeFileSync(join(folder, 'expected.txt'), '42')
  return () => rmSync(root, { recursive: true, force: true })
})

const COMPARE: RunnableSpec = { kind: 'command', run: ['sh', '-c', 'cmp sum.txt "$RUNSHEET_HELD_OUT/expected.txt"'] }
const place = (heldOut: string | undefined = folder): Place => ({
  workspace,
  wrap: [],
  env: { PATH: '/usr/bin:/bin' },
  heldOut,
})
const approved = (spec: RunnableSpec): RunnableCheck => ({ ...spec, id: 'c1', hash: approvalHash(spec, place()) })
const run = (check: RunnableCheck, at = place()): Promise<CheckRun> =>
  runCheck(check, { ...at, dataFolder: '/nowhere', protect: [], redact: redactor() })

it('a held-out command gets the folder, and others do not', async () => {
  writeFileSync(join(workspace.path, 'sum.txt'), '42')
  expect(await run(approved({ ...COMPARE, hidden: true }))).toMatchObject({ result: 'passed' })
  expect(await run(approved(COMPARE))).toMatchObject({ result: 'failed' })
})

it.each([
  ['a file that changed', (): void => writeFileSync(join(folder, 'expected.txt'), '43')],
  ['a new file', (): void => writeFileSync(join(folder, 'more.txt'), '')],
  ['a file that is gone', (): void => rmSync(join(folder, 'expected.txt'))],
])('%s has to be approved again', async (_, change) => {
  const check = approved({ ...COMPARE, hidden: true })
  change()
  expect(await run(check)).toMatchObject({
    result: 'inconclusive',
    changed: true,
    reason: expect.stringContaining('the files of checks.held_out are'),
  })
})

it('other checks do not depend on its files', async () => {
  const before = approvalHash(COMPARE, place())
  writeFileSync(join(folder, 'expected.txt'), '43')
  expect(approvalHash(COMPARE, place())).toBe(before)
})

it('links inside count by what they lead to; others are refused', () => {
  symlinkSync('expected.txt', join(folder, 'link'))
  const before = heldOutHash(folder, workspace)
  writeFileSync(join(folder, 'expected.txt'), '43')
  expect(heldOutHash(folder, workspace)).not.toEqual(before)
  symlinkSync(workspace.path, join(folder, 'folder'))
  expect(heldOutHash(folder, workspace)).toEqual({
    reason: `checks.held_out: ${folder} has a link to a folder or out of it. Put the files there instead.`,
  })
})

it('too many files, or too large ones, are not hashed', () => {
  const large = join(folder, 'large.bin')
  writeFileSync(large, '')
  truncateSync(large, 32_000_001)
  const tooMany = { reason: `checks.held_out: ${folder} has more than 2000 files or 32 MB.` }
  expect(heldOutHash(folder, workspace)).toEqual(tooMany)
  rmSync(large)
  for (let count = 0; count < 2_000; count += 1) writeFileSync(join(folder, `${count}`), '')
  expect(heldOutHash(folder, workspace)).toEqual(tooMany)
})

it('a folder that is gone or in the workspace is named', async () => {
  const check = approved({ ...COMPARE, hidden: true })
  rmSync(folder, { recursive: true })
  expect(heldOutProblem(folder)).toBe(`checks.held_out: ${folder} is not a folder. Create it, or change the setting.`)
  expect((await run(check)).result).toBe('inconclusive')
  const inside = join(workspace.path, 'held')
  mkdirSync(inside)
  expect(heldOutProblem(inside, [workspace])).toBe(
    `checks.held_out: ${inside} is inside the workspace ${workspace.path}, where agents read it. Move it.`,
  )
  symlinkSync(inside, folder)
  expect(heldOutProblem(folder, [workspace])).toContain('is inside the workspace')
  expect(problemIn({ ...NO_CHECK_SETTINGS, held_out: 'held' })).toBe(
    'checks.held_out must be an absolute path, not held.',
  )
})

it('a folder that is gone is the reason of the next run', async () => {
  const missing = place(join(folder, 'gone'))
  const spec: RunnableSpec = { ...COMPARE, hidden: true }
  const check = { ...spec, id: 'c1', hash: approvalHash(spec, missing) }
  expect((await run(check, missing)).reason).toContain('gone is not a folder')
})
