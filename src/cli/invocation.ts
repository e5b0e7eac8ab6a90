import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_DATA } from './default-paths.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const isSource = import.meta.url.endsWith('.ts')

interface Shell {
  readonly path: string
  /** The folder in which the command will be typed; absent if unknown. */
  readonly cwd?: string
}

/** The command that runs this program again, as it must be typed; it depends on how the program was installed. */
export function invocation({ path, cwd }: Shell): string {
  if (isSource) return cwd !== undefined && isRoot(cwd) ? 'npm run -s runsheet --' : absolute('src/cli/main.ts')
  if (isOnPath(path)) return 'runsheet'
  return cwd !== undefined && isFoundByNpx(cwd) ? 'npx runsheet' : absolute('dist/cli/runsheet.js')
}

export const programFile = (): string => join(ROOT, isSource ? 'src/cli/main.ts' : 'dist/cli/runsheet.js')

/** Installs by path: the package is not published, and anyone could register its name. */
export const installCommand = (): string =>
  `in a clone of Runsheet, npm ci && npm pack && npm install -g ./runsheet-${version}.tgz`

export const setupCommand = (invocation: string, host: string, scope: string): string =>
  `${invocation} setup ${host}${scope === 'user' ? '' : ` --scope ${scope}`}`

export const urlCommand = (invocation: string, data: string): string => `${invocation} url${dataOption(data)}`

export const serveCommand = (invocation: string, data: string): string => `${invocation} serve${dataOption(data)}`

/** Without `data` the command finds the folder itself. */
export const reviewCommand = (invocation: string, data = DEFAULT_DATA): string =>
  `${invocation} review${dataOption(data)}`

export const trustCommand = (invocation: string, file: string): string => `${invocation} trust ${shellWord(file)}`

const dataOption = (data: string): string => (data === DEFAULT_DATA ? '' : ` --data ${shellWord(data)}`)

/** The running Node: a plain `node` may be too old. */
const absolute = (file: string): string => `${shellWord(process.execPath)} ${shellWord(join(ROOT, file))}`

/** Detects a global install. npm and npx put `node_modules/.bin` folders on our PATH that the user's shell lacks. */
function isOnPath(path: string): boolean {
  const folders = path.split(delimiter).filter(folder => folder && !folder.endsWith(join('node_modules', '.bin')))
  const found = folders.map(folder => join(folder, 'runsheet')).find(file => existsSync(file))
  return found !== undefined && !relative(ROOT, realpathSync(found)).startsWith(`..${sep}`)
}

/** npx runs the nearest install at or above the current folder. */
function isFoundByNpx(cwd: string): boolean {
  const installed = join(cwd, 'node_modules', 'runsheet')
  if (existsSync(installed)) return isRoot(installed)
  return dirname(cwd) !== cwd && isFoundByNpx(dirname(cwd))
}

const isRoot = (folder: string): boolean => relative(ROOT, realpathSync(folder)) === ''

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

export const version: string = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
