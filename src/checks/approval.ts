import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import {
  specOf,
  type Check,
  type CheckSpec,
  type Program,
  type RunnableCheck,
  type WithPrograms,
  type Workspace,
} from '../core/proof/check.ts'
import { isHidden } from '../core/proof/held-out.ts'
import { Obstacle } from './obstacle.ts'
import { findProgram, isName, programFile, type Place, type Where } from './program.ts'
import { isFolder, pathFrom, realOf } from './workspace.ts'
import { FileHasher, entryAt, filesBelow, hashFiles, type Limits } from './files.ts'

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

/** Names the folder of held-out files to held-out checks. */
export const HELD_OUT_FOLDER = 'RUNSHEET_HELD_OUT'

/** They are read whenever a held-out check is written or runs. */
const LIMITS: Limits = { files: 2_000, bytes: 32_000_000 }
/** What programs write when they only read. */
const SKIPPED: ReadonlySet<string> = new Set(['__pycache__', '.pytest_cache'])

/** Why a folder cannot hold the files of held-out checks, as a sentence. */
export function heldOutProblem(folder: string, workspaces: readonly Workspace[] = []): string | undefined {
  if (!isFolder(folder)) return `checks.held_out: ${folder} is not a folder. Create it, or change the setting.`
  const real = realOf(folder)
  const workspace = workspaces.find(({ path }) => pathFrom(path, real) !== undefined)
  return (
    workspace && `checks.held_out: ${folder} is inside the workspace ${workspace.path}, where agents read it. Move it.`
  )
}

/** A hash of the held-out files, which a person approves with the check. */
export function heldOutHash(folder: string, workspace: Workspace): string | Obstacle {
  const problem = heldOutProblem(folder, [workspace])
  if (problem !== undefined) return new Obstacle(problem)
  const paths = filesBelow(folder, path => !SKIPPED.has(basename(path)), LIMITS.files)?.toSorted()
  if (paths?.some(path => entryAt(folder, path)?.isBlind)) {
    return new Obstacle(`checks.held_out: ${folder} has a link to a folder or out of it. Put the files there instead.`)
  }
  const hashes = paths && hashFiles({ root: folder, limits: LIMITS }, paths, new FileHasher())
  if (!hashes) {
    return new Obstacle(`checks.held_out: ${folder} has more than ${LIMITS.files} files or ${LIMITS.bytes / 1e6} MB.`)
  }
  return createHash('sha256')
    .update(JSON.stringify([...hashes]))
    .digest('hex')
}
