import picomatch from 'picomatch'

// `s`, because a name may contain a line break.
const OPTIONS: picomatch.PicomatchOptions = { dot: true, nonegate: true, flags: 's' }
const MODULES = 'node_modules'

/** Globs over workspace paths. Dot files match like others; files in node_modules match only globs that name it. */
export interface Globs {
  readonly matches: (path: string) => boolean
  readonly mayHold: (folder: string) => boolean
}

const MAX_LISTS = 32
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
  const all = globs.map(glob => ({
    isMatch: picomatch(glob, OPTIONS),
    base: baseOf(glob),
    ofModules: glob.includes(MODULES),
  }))
  const named = all.filter(({ ofModules }) => ofModules)
  const forPath = (path: string) => (path.split('/').includes(MODULES) ? named : all)
  return {
    matches: path => forPath(path).some(({ isMatch }) => isMatch(path)),
    mayHold: folder =>
      forPath(folder).some(({ base }) => base.startsWith(`${folder}/`) || `${folder}/`.startsWith(base)),
  }
}

export const literal = (path: string): string => path.replaceAll(/[\\[\](){}*?!+@|^$]/g, String.raw`\$&`)

function baseOf(glob: string): string {
  const { base } = picomatch.scan(glob, OPTIONS)
  return base === '' || base === '.' || base.includes('\\') ? '' : `${base}/`
}
