import type { OffSwitch } from '../host.ts'

const SERVER = 'runsheet'

/** Switches all hooks off if it is true. */
export const ALL_HOOKS: OffSwitch = { path: ['disableAllHooks'], stops: 'hooks', isOff: value => value === true }

/** In the forks of Gemini CLI: the servers that may, or may not, be used. */
export const SERVER_LISTS: readonly OffSwitch[] = [
  { path: ['mcp', 'excluded'], stops: 'tools', isOff: value => listed(value).includes(SERVER) },
  {
    path: ['mcp', 'allowed'],
    stops: 'tools',
    isOff: value => listed(value).length > 0 && !listed(value).includes(SERVER),
  },
]

/** The strings of a list. */
export const listed = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
