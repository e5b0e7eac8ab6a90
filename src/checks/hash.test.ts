import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkScene, type CheckScene } from '../../test/support/check-scene.ts'
import type { CommandCheck, RunnableCheck } from '../core/proof/check.ts'
import { redactor } from '../core/text/redact.ts'
import { approvalHash, foundPrograms } from './approval.ts'
import type { Place } from './program.ts'
import { runCheck, type CheckRun } from './run-check.ts'

/** A process whose search path begins with this folder. */
function processWith(scene: CheckScene, folder: string, more: Partial<Place> = {}): Place {
  const PATH = [join(scene.folder, '..', folder), scene.env['PATH']].join(delimiter)
  return { ...scene, env: { ...scene.env, PATH }, ...more }
}

/** A check that this process makes, and a person approves. */
function approvedIn(place: Place, ...run: readonly string[]): RunnableCheck {
  const spec: CommandCheck = { kind: 'command', run }
  const programs = foundPrograms(spec, place)
  return { ...spec, id: 'c1', hash: approvalHash(spec, place), ...(programs ? { programs } : {}) }
}

const run = (check: RunnableCheck, place: Place): Promise<CheckRun> =>
  runCheck(check, { ...place, dataFolder: '/nowhere', protect: [], redact: redactor() })

describe('a program that is approved', () => {
  it('[CR24] is run by every process, whatever its own search path finds, with its own folder first', async () => {
    const scene = checkScene()
    scene.script('../one/tool', 'exec helper')
    scene.script('../one/helper', 'echo one')
    scene.script('../two/tool', 'exec helper')
    scene.script('../two/helper', 'echo two')
    const check = approvedIn(processWith(scene, 'one'), 'tool')
    for (const folder of ['one', 'two', 'none']) {
      expect(await run(check, processWith(scene, folder))).toMatchObject({ result: 'passed', tail: 'one\n' })
    }
  })

  it('[CR24] inside a wrapper, too, and the wrapper itself', async () => {
    const scene = checkScene()
    for (const name of ['one', 'two']) {
      scene.script(`../${name}/wrapper`, `echo wrapped in ${name}`, 'exec "$@"')
      scene.script(`../${name}/tool`, `echo ${name}`)
    }
    const wrap = ['wrapper']
    const check = approvedIn(processWith(scene, 'one', { wrap }), 'tool')
    const other = processWith(scene, 'two', { wrap })
    expect(await run(check, other)).toMatchObject({ result: 'passed', tail: 'wrapped in one\none\n' })
  })

  it('[CR24] once it is gone, nothing else is run in its place: both are named, and what to do', async () => {
    const scene = checkScene()
    const approved = scene.script('../one/tool', 'exit 0')
    const other = scene.script('../two/tool', 'touch ran')
    const check = approvedIn(processWith(scene, 'one'), 'tool')
    rmSync(approved)
    expect(await run(check, processWith(scene, 'two'))).toMatchObject({
      result: 'inconclusive',
      changed: true,
      reason: `It was approved with ${approved}, which is gone; here tool is ${other}. A person can approve it again in the plan.`,
    })
    expect(existsSync(join(scene.folder, 'ran'))).toBe(false)
  })

  it('[CR24] nor once its link leads to another file', async () => {
    const scene = checkScene()
    const [first, second] = [scene.script('../v1/tool'), scene.script('../v2/tool', 'touch ran')]
    const link = join(scene.folder, '../one/tool')
    mkdirSync(dirname(link))
    symlinkSync(first, link)
    const place = processWith(scene, 'one')
    const check = approvedIn(place, 'tool')
    expect(await run(check, place)).toMatchObject({ result: 'passed' })
    rmSync(link)
    symlinkSync(second, link)
    expect(await run(check, place)).toMatchObject({
      result: 'inconclusive',
      reason: expect.stringContaining(`It was approved with ${first}, and ${link} leads to ${second} now.`),
    })
    expect(await run(approvedIn(place, 'tool'), place)).toMatchObject({ result: 'passed' })
  })

  it('[CR24] one that was not found then is not run now: its path has to be written', async () => {
    const scene = checkScene()
    const place = processWith(scene, 'one')
    const check = approvedIn(place, 'tool')
    expect(await run(check, place)).toMatchObject({
      result: 'inconclusive',
      reason: expect.stringContaining('The program tool was not found.'),
    })
    const file = scene.script('../one/tool')
    expect(await run(check, place)).toMatchObject({
      result: 'inconclusive',
      reason: `tool was not found when it was approved, and is ${file} here. Write it with that path to allow it.`,
    })
    expect(await run(approvedIn(processWith(scene, 'two'), file), place)).toMatchObject({ result: 'passed' })
  })
})
