/** Where the work is done. */
const SOURCES = `app apps client cmd crates doc docs include internal lib libs modules node_modules packages pkg public server
  source sources src web`
/** Holds what is built, or scripts; git may ignore either. */
const PROGRAMS = 'bin'
/** What builds and checks write. */
const OUTPUTS = `.cache .next .nuxt .output .svelte-kit .turbo artifacts ${PROGRAMS} build cjs compiled coverage dist es esm lib log logs
  out output reports results target temp tmp`

/** Where the packages of a workspace are. */
const PACKAGE_FOLDERS: ReadonlySet<string> = new Set('apps crates libs modules packages'.split(' '))
const OUTPUT_FOLDERS: ReadonlySet<string> = new Set(OUTPUTS.split(/\s+/))
const WORK_FOLDERS: ReadonlySet<string> = new Set(`${SOURCES} ${OUTPUTS}`.split(/\s+/))

/** Whether a path leads into a folder of source or of output: a change in there is nothing to be asked about. */
export const isWork = (path: string): boolean => path.split('/').some(name => WORK_FOLDERS.has(name))

/** The same inside of a package. */
export const isWorkInPackage = (path: string): boolean =>
  path.split('/').some(name => WORK_FOLDERS.has(name) && !PACKAGE_FOLDERS.has(name))

/** The name of the outermost folder of output that a file of the workspace is in. */
export const outputFolder = (path: string): string | undefined =>
  path
    .split('/')
    .slice(0, -1)
    .find(name => OUTPUT_FOLDERS.has(name))

/** Whether a file that a command starts may be a script, and nothing that was built. */
export const isAmongPrograms = (path: string): boolean => outputFolder(path) === PROGRAMS
