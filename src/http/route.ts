import type { Context } from 'hono'
import type * as z from 'zod'
import type { PolicyPatch } from '../domain/policy.ts'
import type { ToolApprovalRequest } from '../domain/tool-approval.ts'
import type {
  ModelView,
  SettingsAnswer,
  SettingsChange,
  ToolRuleChange,
  ToolsAnswer,
  TryAnswer,
} from '../domain/wire.ts'
import type { Redactor } from '../domain/redact.ts'
import type { Origin } from '../domain/origin.ts'
import type { Ref, Door } from '../door/door.ts'
import type { Connection, Reply } from './connection.ts'
import type { Caller, Login, Role } from './credentials.ts'
import type { Limits } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { Release } from './quota.ts'
import type { Shape } from './shapes.ts'
import type { Streams } from './sse/streams.ts'

/** What the handlers of routes work with. */
export interface Deps extends Partial<Parts> {
  readonly door: Door
  readonly streams: Streams
  readonly limits: Limits
  readonly models: readonly ModelView[]
  readonly redact: Redactor
  /** Absent where no turns are run. */
  readonly turns?: Turns
  /** The policy of new conversations, over the toolset's defaults. */
  readonly host: PolicyPatch
  /** How long a tool call waits for a review before it answers 202. */
  readonly reviewWaitMs: number
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

/** Parts that not every server has. A route that needs one is served only where it is. */
export interface Parts {
  readonly login: Login
  readonly metrics: Metrics
  readonly settings: ServerSettings
  readonly tools: ServerTools
}

/** The settings of a server, for persons. */
export interface ServerSettings {
  view(): SettingsAnswer
  /** Throws if the settings are no longer at `version`, or a rule refuses the change. */
  change(version: string, change: SettingsChange): SettingsAnswer
  /** Calls a configured model once. Throws if that was done too often. */
  try(which: TriedModel, signal: AbortSignal): Promise<TryAnswer>
}
/** The MCP servers of a server's own turns, for persons. */
export interface ServerTools {
  view(): ToolsAnswer
  /** Throws if the server or a tool is not there, or a tool has changed since the person saw it. */
  setRules(change: ToolRuleChange): ToolsAnswer
  /** Takes a server out of the person's own settings. Throws if it is named elsewhere. */
  remove(server: string): ToolsAnswer
  /** Tries a server that failed again. */
  retry(server: string): ToolsAnswer
  /** Allows a tool, as it was shown, from now on. Returns why that was not saved. */
  saveAlways(approval: ToolApprovalRequest, isRepeated: boolean): string | undefined
}
export type TriedModel = 'model' | 'assessor_model'

/** Serves `/mcp` for an authenticated caller. */
export type Mcp = (
  request: Request,
  incoming: {
    readonly role: Role
    /** Who sent it, as limits and sessions tell callers apart. */
    readonly credential: string
    /** The same for the log. */
    readonly origin: Origin
    readonly body: unknown
    /** Aborts when the connection of its response is closed. */
    readonly closed: AbortSignal
    /** Takes an event stream until the connection is closed; throws if there is none left. */
    readonly openStream: () => void
    /** Takes a place to wait for a person in; undefined if there is none left. */
    readonly hold: () => Release | undefined
  },
) => Promise<Response | Reply>

/** How `POST /api/chat` starts turns. */
export interface Turns {
  /** The models that a request may name. */
  readonly names: readonly string[]
  /** The model of a request that names none. */
  readonly defaultName: string
  /** Where a model is reached, if a person may change that while a turn runs. */
  readonly endpointOf?: (name: string) => string | undefined
  /** Whether this model has a sandbox to act in. */
  readonly hasSandbox?: (name: string) => boolean
  /** Drives a turn that was just started. */
  readonly take: (ref: Ref, turn: string) => void
}

/** A request whose sender, parameters and body were checked. */
export interface Call<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly caller: Caller
  readonly method: string
  readonly header: (name: string) => string | undefined
  readonly connection: Connection
}

export type RequestContext = Context<Env>
export type Env = { Bindings: { readonly connection: Connection } }

export interface Answer {
  readonly status?: number
  readonly body?: unknown
  /** Sent as it is instead of a JSON body; `headers` must name its type. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer as the OpenAPI document shows it. */
export interface Documented {
  readonly description: string
  readonly schema?: z.ZodType | Shape
  readonly type?: string
  /** The `data` of each message of a stream. */
  readonly message?: Shape
}

/** The groups of the OpenAPI document. */
export const TAGS = {
  Sessions: 'Conversations and their policies',
  Turns: 'Messages to the agent, and the work on them',
  Tasks: "A conversation's tasks",
  Search: 'What conversations hold, by words',
  Reviews: 'Proposals that a person confirms or cancels',
  Templates: 'Saved lists of tasks',
  Events: 'The log of a conversation',
  Toolsets: 'Tools for agents that run elsewhere',
  Tools: 'The MCP servers of the agent, and calls that wait for a person',
  Settings: 'Models and the policy of new conversations, as the page sets them',
  Login: 'How the page gets its token',
  Operation: 'Health, metrics and this document',
} as const
export type Tag = keyof typeof TAGS

/** One route. The server and the OpenAPI document are made from the same table. */
export interface Route<P = unknown, Q = unknown, B = unknown, N extends keyof Parts = keyof Parts> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `:name` for parameters. */
  readonly path: string
  /** The operation's name in the OpenAPI document, for generated clients. */
  readonly operationId: string
  readonly tag: Tag
  /** The role that the caller needs; a person may do all that an agent may. `none` needs no authentication. */
  readonly role: Role | 'none'
  /** Answers for any Host and Origin: for probes. */
  readonly public?: true
  /** The part without which the route is not served. */
  readonly needs?: N
  readonly summary: string
  readonly params?: z.ZodType<P>
  readonly query?: z.ZodType<Q>
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType<B>
  readonly answers: Readonly<Record<number, Documented>>
  /** A method, so that routes with different parameters fit in one list. */
  handle(call: Call<P, Q, B>, deps: Deps & Pick<Parts, N>): Promise<Answer | Response>
}

/** Infers what the handler gets from the schemas next to it. */
export const route = <P, Q, B, N extends keyof Parts = never>(definition: Route<P, Q, B, N>): Route => definition
