import { FEATURES, type Installation } from './host.ts'

export interface StartedServer {
  readonly words: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  readonly isEnabled: boolean
  /** The setup choices that would write this entry; undefined if the command is not one of setup's. */
  readonly installation: Installation | undefined
}

type Entry = Readonly<Record<string, unknown>>

export function startedBy(entry: Entry): StartedServer | undefined {
  const { command, args, env, environment, enabled, disabled } = entry
  const [first, ...rest] = [...texts(command), ...texts(args)]
  if (first === undefined) return undefined
  const words = [first, ...rest] as const
  return {
    words,
    env: Object.fromEntries(
      Object.entries({ ...((env ?? environment) as object) }).map(([key, value]) => [key, String(value)]),
    ),
    isEnabled: enabled !== false && disabled !== true,
    installation: installationOf(words),
  }
}

function installationOf(words: readonly string[]): Installation | undefined {
  const at = words.indexOf('mcp')
  const [first, ...script] = words.slice(0, at)
  if (at < 1 || first === undefined) return undefined
  const options = words.slice(at + 1)
  const data = options.includes('--data') ? options[options.indexOf('--data') + 1] : undefined
  const features = options.includes('--hooks') ? FEATURES.filter(each => !options.includes(`--no-${each}`)) : []
  return { program: [first, ...script], data, features }
}

const texts = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.map(String) : []
