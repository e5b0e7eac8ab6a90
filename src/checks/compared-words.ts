import { basename } from 'node:path'
import type { ShellCommand } from './shell-text.ts'

export interface Compared {
  readonly words: readonly string[]
  /** Whether these are compared with each other: if one is known to be the expected side, the others are not. */
  readonly areSides: boolean
}

/** Whether a command compares files, or two values that are both not literal. */
export const compares = (words: readonly string[]): boolean => comparesFiles(words) || comparesValues(words)

/** Words of a command that may name expected output, in a text that compares. */
export function comparedIn({ words, reads = [] }: ShellCommand): Compared {
  if (comparesFiles(words)) return { words: words.filter(isOperand), areSides: true }
  const shows = words.some(word => SHOWS.test(basename(word)))
  return { words: shows ? words.filter(isOperand) : reads, areSides: false }
}

const COMPARES = /^(?:\w*diff\d?|\w+-diff|cmp|comm|compare)$/i
const CHECKSUM = /^(?:\w+sum|shasum|cksum)$/
/** Programs that print file contents. */
const SHOWS =
  /^(?:cat|tac|head|tail|sort|uniq|tr|sed|g?awk|cut|paste|join|fold|column|nl|rev|jq|yq|xq|xmllint|base64|xxd|od|hexdump|zcat|gunzip|iconv|dos2unix)$/
const EQUALS = /^(?:==?|!=|=~|-eq|-ne)$/

const isOperand = (word: string): boolean => !word.startsWith('-')

export function comparesFiles(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const name = basename(word)
    const options = words.slice(index + 1)
    // Without that option git compares with its own objects.
    if (COMPARES.test(name)) return words[index - 1] !== 'git' || options.includes('--no-index')
    if (CHECKSUM.test(name)) return options.some(each => /^(?:-c|--check)$/.test(each))
    return /^[efz]?grep$/.test(name) && options.some(each => /^(?:-[a-zA-Z]*f|--file=.*)$/.test(each))
  })
}

const comparesValues = (words: readonly string[]): boolean =>
  words.some(
    (word, index) => EQUALS.test(word) && [words[index - 1], words[index + 1]].every(side => /[$`]/.test(side ?? '')),
  )
