import type { ServerToolView, ToolsAnswer, ToolServerView } from '../../src/core/views/wire.ts'
import type { ServerTools } from '../../src/server/http/route.ts'

export const NO_TOOLS: ToolsAnswer = {
  scope: 'server',
  servers: [],
  offered: 0,
  add: {
    command: 'npx runsheet tools add',
    file: '/home/ann/.config/runsheet/runsheet.json',
    folder: '/home/ann/My notes',
  },
}

/** For tests: the tools part of a server that has these. Rules are kept in memory. */
export function toolsPart(answer: ToolsAnswer = NO_TOOLS): ServerTools {
  let now = answer
  const changed = (servers: readonly ToolServerView[]): ToolsAnswer => (now = { ...now, servers })
  return {
    view: () => now,
    setRules: ({ server, rule, tools }) =>
      changed(
        now.servers.map(each =>
          each.name === server ? { ...each, tools: each.tools.map(tool => withRule(tool, rule, tools)) } : each,
        ),
      ),
    remove: name => changed(now.servers.filter(each => each.name !== name)),
    retry: name =>
      changed(now.servers.map(each => (each.name === name ? { ...each, state: 'connecting' as const } : each))),
    saveAlways: () => undefined,
  }
}

const withRule = (
  tool: ServerToolView,
  rule: ServerToolView['rule'] | null,
  named: readonly { readonly name: string }[],
): ServerToolView => {
  if (!named.some(({ name }) => name === tool.name)) return tool
  const { changed: _, ...rest } = tool
  return { ...rest, rule: rule ?? 'ask', source: rule === null ? 'configuration' : 'page' }
}

export const toolView = (name: string, more: Partial<ServerToolView> = {}): ServerToolView => ({
  name,
  description: `What ${name} does.`,
  read_only: false,
  fingerprint: 'a.b',
  rule: 'ask',
  source: 'configuration',
  ...more,
})

export const serverView = (name: string, more: Partial<ToolServerView> = {}): ToolServerView => ({
  name,
  target: `npx -y @example/${name}`,
  kind: 'command',
  file: NO_TOOLS.add.file,
  removable: true,
  ask: 'all',
  state: 'ready',
  since: '2026-11-16T18:00:00.000Z',
  tools: [],
  ...more,
})
