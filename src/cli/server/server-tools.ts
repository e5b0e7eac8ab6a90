import type { LearningRedactor, Redactor } from '../../core/text/redact.ts'
import { Refusal } from '../../core/model/refusal.ts'
import {
  MAX_RULES,
  countRules,
  offeredOf,
  rulingOf,
  savedRule,
  type RuleChange,
} from '../../core/model/tool-approval.ts'
import { visible } from '../../core/text/plain-text.ts'
import type {
  ServerToolView,
  SettingsAnswer,
  ToolRuleChange,
  ToolServerView,
  ToolsAnswer,
} from '../../core/views/wire.ts'
import { hashOf } from '../../engine/door/door.ts'
import { HttpError } from '../../server/http/replies.ts'
import type { ServerTools } from '../../server/http/route.ts'
import { secretsOf, type McpServer, type McpServers, type McpState } from '../../engine/turn/mcp-tools.ts'
import { CliError, causeOf } from '../cli-error.ts'
import { shellWord } from '../invocation.ts'
import { stampOf, type LiveSettings } from './page-settings.ts'
import { removeServer, serversIn } from '../tools.ts'

interface ServerToolsOptions {
  readonly servers: ToolServers
  readonly mcp: McpServers
  readonly settings: LiveSettings
  readonly redact: Redactor
  readonly scope: SettingsAnswer['scope']
  readonly invocation: string
  readonly folder: string
  /** Gets what changed, never the new value. */
  readonly onChanged: (what: string, server: string) => void
}

export function serverTools(options: ServerToolsOptions): ServerTools {
  const { servers, mcp, settings } = options
  const change = (server: string, changes: readonly RuleChange[]): void => {
    settings.changeRules(changes)
    options.onChanged('rules', server)
  }
  return {
    view: () => viewOf(options),
    setRules: sent => {
      change(sent.server, changesOf(options, sent))
      return viewOf(options)
    },
    remove: name => {
      if (!Object.hasOwn(servers.all, name)) throw serverNotFound(name)
      const { file, isOwn } = servers.fileOf(name)
      if (!isOwn) {
        throw new HttpError(
          409,
          'server_elsewhere',
          `${name} is in ${file}. Remove it there, and restart the server.`,
          {
            file,
          },
        )
      }
      try {
        removeServer(file, name)
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        throw new HttpError(503, 'settings_not_saved', error.message)
      }
      options.onChanged('removed', name)
      mcp.use(servers.all)
      return viewOf(options)
    },
    retry: name => {
      mcp.use(servers.all)
      if (!mcp.retry(name)) throw serverNotFound(name)
      return viewOf(options)
    },
    saveAlways: ({ server, server_tool: tool, fingerprint }, isRepeated) => {
      if (server === undefined || tool === undefined || fingerprint === undefined) return undefined
      // A rule that a person has set meanwhile wins.
      if (isRepeated && savedRule(settings.rules, { server, tool })) return undefined
      try {
        change(server, [{ server, tool, rule: { rule: 'always', fingerprint } }])
        return undefined
      } catch (error) {
        if (error instanceof HttpError || error instanceof Refusal) return error.message
        throw error
      }
    },
  }
}

function viewOf(options: ServerToolsOptions): ToolsAnswer {
  const { servers, mcp, scope, invocation, folder } = options
  const { all, problem } = servers
  mcp.use(all)
  const states = mcp.states()
  const views = Object.entries(all).map(([name, server]): ToolServerView => {
    const { file, isOwn } = servers.fileOf(name)
    const { state, since, reason, tools } = states.get(name) ?? CONNECTING
    return {
      name,
      target: targetOf(server, options),
      kind: 'url' in server ? 'url' : 'command',
      file,
      removable: isOwn,
      ask: server.ask ?? 'none',
      state,
      since: new Date(since).toISOString(),
      ...(reason === undefined ? {} : { reason: visible(options.redact.line(reason)).slice(0, MAX_REASON) }),
      tools: tools.map(tool => toolView(tool, options)),
    }
  })
  const on = views.flatMap(({ name, tools }) =>
    tools.filter(({ rule }) => rule !== 'never').map(tool => ({ name, tool })),
  )
  const offered = offeredOf(on, ({ name }) => name)
  const given = new Set(offered.map(({ tool }) => tool))
  const marked = (tool: ServerToolView): ServerToolView =>
    tool.rule === 'never' || given.has(tool) ? tool : { ...tool, left_out: true }
  return {
    scope,
    servers: views.map(view => ({ ...view, tools: view.tools.map(marked) })),
    offered: offered.length,
    add: { command: `${invocation} tools add`, file: servers.own, folder },
    ...(problem === undefined ? {} : { problem: options.redact.line(problem) }),
  }
}

const CONNECTING: McpState = { state: 'connecting', since: 0, tools: [] }
const MAX_REASON = 500
const MAX_DESCRIPTION = 1_000

function toolView(
  { from, title, description }: McpState['tools'][number],
  { settings, redact }: ServerToolsOptions,
): ServerToolView {
  const { rule, source, changed } = rulingOf(from, settings.rules)
  const clean = (text: string): string => visible(redact.line(text))
  return {
    name: from.tool,
    ...(title === undefined ? {} : { title: clean(title).slice(0, MAX_DESCRIPTION) }),
    description: clean(description).slice(0, MAX_DESCRIPTION),
    read_only: from.isReadOnly,
    fingerprint: from.fingerprint,
    rule,
    source,
    ...(changed ? { changed } : {}),
  }
}

/** Redacts secrets in arguments and the URL. */
function targetOf(server: McpServer, { redact }: ServerToolsOptions): string {
  const text = 'url' in server ? server.url : [server.command, ...(server.args ?? [])].map(shellWord).join(' ')
  return visible(redact.line(text))
}

/** "always" is saved only for a tool that is unchanged since the person saw it. */
function changesOf({ mcp, settings }: ServerToolsOptions, { server, rule, tools }: ToolRuleChange): RuleChange[] {
  const state = mcp.states().get(server)
  if (!state) throw serverNotFound(server)
  const changes = tools.map(({ name: tool, fingerprint }): RuleChange => {
    const known = state.tools.find(({ from }) => from.tool === tool)
    if (!known) throw new HttpError(404, 'tool_not_found', `${server} has no tool ${tool} now.`)
    if (rule !== 'always') return { server, tool, rule: rule === null ? null : { rule } }
    if (fingerprint !== known.from.fingerprint) {
      throw new HttpError(409, 'tool_changed', `${tool} has changed since you saw it. Look at it again.`)
    }
    return { server, tool, rule: { rule, fingerprint } }
  })
  if (countRules(settings.rules) + changes.length > MAX_RULES) {
    throw new HttpError(409, 'too_many_rules', `At most ${MAX_RULES} rules are kept. Give some back first.`)
  }
  return changes
}

const serverNotFound = (name: string): HttpError =>
  new HttpError(404, 'server_not_found', `There is no MCP server ${name}.`)

type Servers = Readonly<Record<string, McpServer>>

interface ToolServersOptions {
  /** The user's own settings file, reloaded on change. The other file is loaded once, at the start. */
  readonly own: string
  readonly chosen: string
  readonly servers: Servers
  readonly redact: LearningRedactor
  /** Gives a server its final environment. */
  readonly prepared: (servers: Servers) => Servers
}

export class ToolServers {
  readonly #options: ToolServersOptions
  /** Servers of the chosen file; they override the user's own. */
  readonly #chosen: Servers
  #stamp: string
  #own: Servers
  #all: Servers
  #problem: string | undefined

  constructor(options: ToolServersOptions) {
    const { own, servers, prepared } = options
    this.#options = options
    this.#stamp = stampOf(own)
    this.#own = serversIn(own)
    this.#chosen = Object.fromEntries(
      Object.entries(servers).filter(([name, server]) => hashOf(this.#own[name] ?? null) !== hashOf(server)),
    )
    this.#all = prepared({ ...this.#own, ...this.#chosen })
  }

  /** Prepared servers by name. The same object until something changes. */
  get all(): Servers {
    this.#look()
    return this.#all
  }

  /** Why the user's own file is currently not used. */
  get problem(): string | undefined {
    this.#look()
    return this.#problem
  }

  get own(): string {
    return this.#options.own
  }

  fileOf(name: string): { readonly file: string; readonly isOwn: boolean } {
    const isOwn = !Object.hasOwn(this.#chosen, name)
    return { file: isOwn ? this.#options.own : this.#options.chosen, isOwn }
  }

  #look(): void {
    const { own, redact, prepared } = this.#options
    const stamp = stampOf(own)
    if (stamp === this.#stamp) return
    this.#stamp = stamp
    try {
      this.#own = serversIn(own)
      redact.learn(secretsOf(this.#own))
      this.#all = prepared({ ...this.#own, ...this.#chosen })
      this.#problem = undefined
    } catch (error) {
      this.#problem = causeOf(error)
    }
  }
}
