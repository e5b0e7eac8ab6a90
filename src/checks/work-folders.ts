/** Folders where the work is done. */
const SOURCES = `app apps client cmd crates doc docs include internal lib libs modules node_modules packages pkg public server
  source sources src web`
/** May hold build output or scripts; git may ignore either. */
const PROGRAMS = 'bin'
const OUTPUTS = `.cache .next .nuxt .output .svelte-kit .turbo artifacts ${PROGRAMS} build cjs compiled coverage dist es esm lib log logs
  out output reports results target temp tmp`

const PACKAGE_FOLDERS: ReadonlySet<string> = new Set('apps crates libs modules packages'.split(' '))
const OUTPUT_FOLDERS: ReadonlySet<string> = new Set(OUTPUTS.split(/\s+/))
const WORK_FOLDERS: ReadonlySet<string> = new Set(`${SOURCES} ${OUTPUTS}`.split(/\s+/))

/** Whether a path is in a source or output folder, where changes need no approval. */
export const isWork = (path: string): boolean => path.split('/').some(name => WORK_FOLDERS.has(name))

export const isWorkInPackage = (path: string): boolean =>
  path.split('/').some(name => WORK_FOLDERS.has(name) && !PACKAGE_FOLDERS.has(name))

export const outputFolder = (path: string): string | undefined =>
  path
    .split('/')
    .slice(0, -1)
    .find(name => OUTPUT_FOLDERS.has(name))

/** Whether a started file may be a script, not build output. */
export const isAmongPrograms = (path: string): boolean => outputFolder(path) === PROGRAMS
