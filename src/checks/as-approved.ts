import { existsSync } from 'node:fs'
import type { Program, RunnableCheck } from '../core/proof/check.ts'
import { isHidden } from '../core/proof/held-out.ts'
import { approvalHash, programWords, unresolvedHash, whereOf } from './hash.ts'
import { Obstacle } from './obstacle.ts'
import type { Place } from './environment.ts'
import { findProgram, isName, programFile, type Where } from './program.ts'
import { realOf } from './workspace.ts'

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
