import { basename } from 'node:path'
import { interpreterOf, runsTests, scriptsAfter, worksOn } from './run-words.ts'
import { programAt, type ShellCommand } from './shell-text.ts'

/** Variables that a text sets. Others are empty or set by the person, because an agent cannot set them. */
export const assignedIn = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/(?:^|[\s;&|(])(?:for|select)[ \t]+(\w+)/g)].map(([, name = '']) => name),
    ...[...text.matchAll(/(?:^|[\s;&|(])(\w+)=/g)].map(([, name = '']) => name),
    ...[...text.matchAll(/(?:^|[\s;&|(])read((?:[ \t]+-?\w+)+)/g)].flatMap(([, names = '']) => names.split(/\s+/)),
  ])

/** Whether a command starts files that other commands find, or that a variable names. */
export function startsUnnamed({ words: all, reads = [], isFed }: ShellCommand, assigned: ReadonlySet<string>): boolean {
  const words = all.filter(word => !reads.includes(word))
  const isUnnamed = (word: string): boolean =>
    word.includes('{}') || [...word.matchAll(/\$\{?(\w+)/g)].some(([, name = '']) => assigned.has(name))
  const first = programAt(words)
  const program = words[first] ?? ''
  if (worksOn(words.slice(first))) return false
  if (/^[{$]/.test(program) && isUnnamed(program)) return true
  const giver = words.findIndex(word => GIVES.test(basename(word)))
  if (giver !== -1 && getsNames(words.slice(giver + 1))) return true
  return words.some((word, index) => {
    if (ONLY_FIRST.test(word) ? index !== first : interpreterOf(word) === undefined || OF_OTHERS.test(word))
      return false
    const scripts = scriptsAfter(words.slice(index + 1), 'other').map(script => script.word)
    if (scripts.length === 0) return isFed === true && index === first && !words.includes('--version')
    return scripts.every(isUnnamed) || (scripts[0] === '-' && isFed === true)
  })
}

const ONLY_FIRST = /^(?:\.|source|eval)$/
/** As in `docker run x`, `npm run x`. */
const OF_OTHERS = /^(?:run|exec)$/
/** Programs and options that pass names to the program after them. */
const GIVES = /^(?:xargs|parallel|-exec(?:dir)?|-ok|-x|-X|--exec|--exec-batch)$/

/** Whether passed names are run: by an interpreter without its own script, by a test runner, or directly. */
function getsNames(words: readonly string[]): boolean {
  const all = words.flatMap(word => word.split(/\s+/))
  if (all.find(word => !word.startsWith('-')) === '{}' || runsTests(all)) return true
  return all.some((word, index) => {
    if (interpreterOf(word) === undefined) return false
    const scripts = scriptsAfter(all.slice(index + 1), 'other').map(script => script.word)
    return scripts.every(each => /^[$'"{]|^:::$|^\\?[;+]$/.test(each))
  })
}

const MAX_FEEDERS = 50

/** Commands that find what another starts: those that feed it, or all whose output becomes words. */
export function findersFor(commands: readonly ShellCommand[], starting: ShellCommand): readonly ShellCommand[] {
  if (starting.isFed) return feedersOf(commands, commands.indexOf(starting))
  return commands.flatMap((command, index) => {
    const lists = command.isCaptured === true || command.words.some(word => LISTS.test(word))
    return [...(lists ? [command] : []), ...(command.words.includes('read') ? feedersOf(commands, index) : [])]
  })
}

/** Loops, and commands that fill variables. */
const LISTS = /^(?:for|done|read|mapfile|readarray)$/

function feedersOf(commands: readonly ShellCommand[], index: number): readonly ShellCommand[] {
  let first = index
  while (first > 0 && commands[first]?.isFed && index - first < MAX_FEEDERS) first -= 1
  return commands.slice(first, index)
}
