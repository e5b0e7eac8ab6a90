import type { OffSwitch } from './host.ts'

const SERVER = 'runsheet'

export const ALL_HOOKS: OffSwitch = { path: ['disableAllHooks'], stops: 'hooks', isOff: value => value === true }

export const SERVER_LISTS: readonly OffSwitch[] = [
  { path: ['mcp', 'excluded'], stops: 'tools', isOff: value => listed(value).includes(SERVER) },
  {
    path: ['mcp', 'allowed'],
    stops: 'tools',
    isOff: value => listed(value).length > 0 && !listed(value).includes(SERVER),
  },
]

export const listed = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
