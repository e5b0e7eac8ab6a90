import picomatch from 'picomatch'

// `s`, because a name may contain a line break.
const OPTIONS: picomatch.PicomatchOptions = { dot: true, nonegate: true, flags: 's' }
const MODULES = 'node_modules'

/** Globs over workspace paths. Dot files match like others; files in node_modules match only globs that name it. */
export interface Globs {
  readonly matches: (path: string) => boolean
  readonly mayHold: (folder: string) => boolean
}

const MAX_LISTS = 16
const MAX_PATHS = 60_000
const LISTS = new Map<string, Globs>()

/** Remembered with their answers: each run asks about the same paths. */
export function globsOf(globs: readonly string[]): Globs {
  const key = JSON.stringify(globs)
  const known = LISTS.get(key)
  if (known) return known
  if (LISTS.size >= MAX_LISTS) LISTS.clear()
  const { matches, mayHold } = combined(globs)
  const answers = new Map<string, boolean>()
  const made: Globs = {
    mayHold,
    matches: path => {
      const answer = answers.get(path) ?? matches(path)
      if (answers.size >= MAX_PATHS) answers.clear()
      answers.set(path, answer)
      return answer
    },
  }
  LISTS.set(key, made)
  return made
}

function combined(globs: readonly string[]): Globs {
  const all = globs.map(compiled)
  const named = all.filter(({ ofModules }) => ofModules)
  // A large repository has hundreds of globs that match only in node_modules.
  const others = all.filter(({ onlyModules }) => !onlyModules)
  const isInModules = (path: string): boolean => path.split('/').includes(MODULES)
  return {
    matches: path => (isInModules(path) ? named : others).some(({ isMatch }) => isMatch(path)),
    mayHold: folder =>
      (isInModules(folder) ? named : all).some(
        ({ base }) => base.startsWith(`${folder}/`) || `${folder}/`.startsWith(base),
      ),
  }
}

export const literal = (path: string): string => path.replaceAll(/[\\[\](){}*?!+@|^$]/g, String.raw`\$&`)

interface Glob {
  readonly isMatch: (path: string) => boolean
  readonly base: string
  readonly ofModules: boolean
  readonly onlyModules: boolean
}

const MAX_COMPILED = 1_000
const COMPILED = new Map<string, Glob>()

/** Cached: every run needs the same globs several times. */
function compiled(glob: string): Glob {
  const known = COMPILED.get(glob)
  if (known) return known
  if (COMPILED.size >= MAX_COMPILED) COMPILED.clear()
  const made = {
    isMatch: picomatch(glob, OPTIONS),
    base: baseOf(glob),
    ofModules: glob.includes(MODULES),
    onlyModules: /^[^{}()|!]*\bnode_modules\/[^{}()|!]*$/.test(glob),
  }
  COMPILED.set(glob, made)
  return made
}

function baseOf(glob: string): string {
  const { base } = picomatch.scan(glob, OPTIONS)
  return base === '' || base === '.' || base.includes('\\') ? '' : `${base}/`
}
