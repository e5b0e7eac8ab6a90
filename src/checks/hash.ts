import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Check,
  type CheckSpec,
  type Program,
  type RunnableCheck,
  specOf,
  type WithPrograms,
  type Workspace,
} from '../core/proof/check.ts'
import { isHidden } from '../core/proof/held-out.ts'
import { heldOutHash } from './held-out.ts'
import { Obstacle } from './obstacle.ts'
import type { Place } from './environment.ts'
import { findProgram, isName, programFile, type Where } from './program.ts'
import { realOf } from './workspace.ts'

/** The hash that a person approves: it changes with everything that decides what would run. */
export const approvalHash = (check: WithPrograms, place: Place): string =>
  hashOf(check, place.workspace, place.wrap, programsOf(check, place), heldOutFiles(check, place))

/** The folder of held-out files and their hash, for a held-out check. */
function heldOutFiles(check: CheckSpec, { heldOut, workspace }: Place): readonly unknown[] {
  if (!isHidden(check) || heldOut === undefined) return []
  const files = heldOutHash(heldOut, workspace)
  return [heldOut, files instanceof Obstacle ? null : files]
}

/** The same hash where programs cannot be resolved: on another machine, or without a workspace. */
export const unresolvedHash = (check: CheckSpec, workspace: Workspace | undefined, wrap: readonly string[]): string =>
  hashOf(check, workspace, wrap, null)

function programsOf(check: WithPrograms, place: Place): readonly (string | null)[] {
  const where = whereOf(check, place)
  return programWords(check, place).map((word, index) => {
    const known = isName(word) ? check.programs?.[index] : undefined
    return known === undefined ? programFile(word, where) : (known?.file ?? null)
  })
}

/** Where the search path finds these programs now, to store with the check; undefined if it names none. */
export function foundPrograms(check: CheckSpec, place: Place): Check['programs'] {
  const words = programWords(check, place)
  if (!words.some(isName)) return undefined
  return words.map(word => {
    const found = isName(word) ? findProgram(word, whereOf(check, place)) : undefined
    return found && !(found instanceof Obstacle) ? found : null
  })
}

const programWords = (check: CheckSpec, { wrap }: Pick<Place, 'wrap'>): readonly string[] =>
  check.kind === 'command' ? [wrap[0], check.run[0]].flatMap(word => word ?? []) : []

function whereOf(check: CheckSpec, { workspace, env }: Place): Where {
  const folder = check.kind === 'command' ? check.cwd : undefined
  return { workspace, cwd: resolve(workspace.path, folder ?? '.'), path: env['PATH'] ?? '' }
}

function hashOf(
  check: CheckSpec,
  workspace: Workspace | undefined,
  wrap: readonly string[],
  programs: readonly (string | null)[] | null,
  heldOut: readonly unknown[] = [],
): string {
  const content = Object.entries(specOf(check)).sort(([a], [b]) => (a < b ? -1 : 1))
  const covered = [content, workspace?.machine ?? null, workspace?.path ?? null, wrap, programs, ...heldOut]
  return createHash('sha256').update(JSON.stringify(covered)).digest('hex')
}

/**
 * Why the command that would run now differs from the approved one, and what a person can do; undefined if it does not.
 */
export function changeSince(check: RunnableCheck, place: Place): string | undefined {
  if (check.hash === unresolvedHash(check, place.workspace, place.wrap)) return undefined
  const words = programWords(check, place)
  const where = whereOf(check, place)
  if (check.hash !== approvalHash(check, place)) return otherwise(words.at(-1), where, isHidden(check))
  for (const [index, word] of words.entries()) {
    const known = check.programs?.[index]
    const change = !isName(word) || known === undefined ? undefined : programChange(word, known, where)
    if (change !== undefined) return change
  }
  return undefined
}

const AGAIN = 'A person can approve it again in the plan.'

/** A hash does not tell what differs. */
function otherwise(word: string | undefined, where: Where, isHeldOut: boolean): string {
  const file = word === undefined ? null : programFile(word, where)
  const program = file === null ? '' : `${word} is ${file} now, or `
  const files = isHeldOut ? ', or the files of checks.held_out are' : ''
  return `What it runs has changed since it was approved: ${program}its folder or checks.wrap is another${files}. ${AGAIN}`
}

function programChange(word: string, known: Program | null, where: Where): string | undefined {
  const here = findProgram(word, where)
  const other = here instanceof Obstacle ? undefined : here.path
  if (known === null) {
    return (
      other && `${word} was not found when it was approved, and is ${other} here. Write it with that path to allow it.`
    )
  }
  if (!existsSync(known.path)) {
    const instead = other === undefined ? '' : `; here ${word} is ${other}`
    return `It was approved with ${known.path}, which is gone${instead}. ${AGAIN}`
  }
  const file = realOf(known.path)
  if (file === known.file) return undefined
  return `It was approved with ${known.file}, and ${known.path} leads to ${file} now. ${AGAIN}`
}
