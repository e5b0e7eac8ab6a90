import { basename, join } from 'node:path'
import picomatch from 'picomatch'
import type { TextReader } from './text-reader.ts'

/** Packages of one repository that are read. */
const MAX_MEMBERS = 500

/** The scripts of a package that go by these names, with those before and after each. */
export function packageScripts(
  folder: string,
  isNamed: (name: string) => boolean,
  reader: TextReader,
): readonly string[] {
  const { scripts, wireit } = reader.object(join(folder, 'package.json'))
  const isMeant = (name: string): boolean => isNamed(name) || isNamed(name.replace(/^(?:pre|post)/, ''))
  return [scripts, wireit].flatMap(entriesOf).flatMap(([name, script]) => (isMeant(name) ? commandsIn(script) : []))
}

/** The folders of the packages that a folder says it holds. */
export function memberFolders(folder: string, reader: TextReader): readonly string[] {
  const { workspaces } = reader.object(join(folder, 'package.json'))
  const listed = reader.text(join(folder, 'pnpm-workspace.yaml')) ?? ''
  const globs = [
    ...globsIn(workspaces),
    ...globsIn(reader.object(join(folder, 'lerna.json'))),
    ...[...listed.matchAll(/^\s*-\s*["']?([^"'#\n]+)/gm)].map(([, glob = '']) => glob.trim()),
  ]
  const members = globs.flatMap(glob => (glob.startsWith('!') ? [] : expanded(folder, glob.split('/'), reader)))
  return [...new Set(members)].slice(0, MAX_MEMBERS)
}

const entriesOf = (object: unknown): readonly [string, unknown][] =>
  typeof object === 'object' && object !== null ? Object.entries(object) : []

/** A script, or the command of one that has more to it. */
function commandsIn(script: unknown): readonly string[] {
  if (typeof script === 'string') return [script]
  return typeof script === 'object' && script !== null && 'command' in script ? commandsIn(script.command) : []
}

/** A list, or an object with one. */
function globsIn(workspaces: unknown): readonly string[] {
  if (Array.isArray(workspaces)) return workspaces.filter(glob => typeof glob === 'string')
  const isObject = typeof workspaces === 'object' && workspaces !== null
  return isObject && 'packages' in workspaces && Array.isArray(workspaces.packages) ? globsIn(workspaces.packages) : []
}

/** The folders that a glob matches, name by name. */
function expanded(folder: string, [name, ...rest]: readonly string[], reader: TextReader): readonly string[] {
  if (name === undefined) return [folder]
  if (name === '' || name === '.') return expanded(folder, rest, reader)
  if (!/[*?[{(!]/.test(name)) return expanded(join(folder, name), rest, reader)
  const isMatch = picomatch(name)
  const found = reader.entries(folder).filter(path => basename(path) !== 'node_modules' && isMatch(basename(path)))
  const isDeep = name === '**'
  return [
    ...(isDeep ? expanded(folder, rest, reader) : []),
    ...found.slice(0, MAX_MEMBERS).flatMap(path => expanded(path, isDeep ? [name, ...rest] : rest, reader)),
  ]
}
