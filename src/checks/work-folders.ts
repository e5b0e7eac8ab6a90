/** Where the work is done. */
const SOURCES = `app apps client cmd crates doc docs include internal lib libs modules node_modules packages pkg public server
  source sources src web`
/** What builds and checks write. */
const OUTPUTS = `.cache .next .nuxt .output .svelte-kit .turbo artifacts bin build coverage dist log logs out output reports
  results target temp tmp`

const OUTPUT_FOLDERS: ReadonlySet<string> = new Set(OUTPUTS.split(/\s+/))
const WORK_FOLDERS: ReadonlySet<string> = new Set(`${SOURCES} ${OUTPUTS}`.split(/\s+/))

/** Whether a path leads into a folder of source or of output: a change in there is nothing to be asked about. */
export const isWork = (path: string): boolean => path.split('/').some(name => WORK_FOLDERS.has(name))

/** The outermost folder of output that a file of the workspace is in. */
export function outputFolder(path: string): string | undefined {
  const names = path.split('/').slice(0, -1)
  const at = names.findIndex(name => OUTPUT_FOLDERS.has(name))
  return at === -1 ? undefined : names.slice(0, at + 1).join('/')
}
