import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type * as z from 'zod'
import type { PolicyPatch } from '../../core/model/policy.ts'
import type { ToolApprovalRequest } from '../../core/model/tool-approval.ts'
import type {
  ModelView,
  SettingsAnswer,
  SettingsChange,
  ToolRuleChange,
  ToolsAnswer,
  TryAnswer,
} from '../../core/views/wire.ts'
import type { Redactor } from '../../core/text/redact.ts'
import type { Origin } from '../../core/model/origin.ts'
import type { Door, Ref } from '../../engine/door/door.ts'
import type { Caller, Login, Role } from './access.ts'
import type { Release } from './limits.ts'
import type { Metrics } from './metrics.ts'
import type { Shape } from './openapi.ts'
import type { Streams } from './streams.ts'

export interface Deps extends Partial<Parts> {
  readonly door: Door
  readonly streams: Streams
  readonly models: readonly ModelView[]
  readonly redact: Redactor
  readonly turns?: Turns
  /** Overrides the toolset's defaults in new conversations. */
  readonly host: PolicyPatch
  /** How long a tool call waits for a review before it answers 202. */
  readonly reviewWaitMs: number
  readonly closing: AbortSignal
}

/** Optional parts of a server. A route that needs one is served only where it exists. */
export interface Parts {
  readonly login: Login
  readonly metrics: Metrics
  readonly settings: ServerSettings
  readonly tools: ServerTools
}

/** The server's settings; only people may use them. */
export interface ServerSettings {
  view(): SettingsAnswer
  /** Throws if the settings are no longer at `version` or a rule refuses the change. */
  change(version: string, change: SettingsChange): SettingsAnswer
  /** Calls a configured model once. Throws if called too often. */
  try(which: TriedModel, signal: AbortSignal): Promise<TryAnswer>
}
/** The MCP servers that our own turns use; only people may change them. */
export interface ServerTools {
  view(): ToolsAnswer
  /** Throws if the server or a tool is unknown, or if a tool has changed since the person saw it. */
  setRules(change: ToolRuleChange): ToolsAnswer
  /** Removes a server from the person's own settings. Throws if it is configured elsewhere. */
  remove(server: string): ToolsAnswer
  retry(server: string): ToolsAnswer
  /** Always allows a tool as it was shown. Returns why that was not saved, if so. */
  saveAlways(approval: ToolApprovalRequest, isRepeated: boolean): string | undefined
}
export type TriedModel = 'model' | 'assessor_model'

export type Mcp = (
  request: Request,
  incoming: {
    readonly role: Role
    /** Identifies the caller's sessions. */
    readonly credential: string
    /** Identifies the caller in the log. */
    readonly origin: Origin
    readonly body: unknown
    readonly closed: AbortSignal
  },
) => Promise<Response>

export interface Turns {
  readonly names: readonly string[]
  readonly defaultName: string
  /** Set if a person may change a model's endpoint while a turn runs. */
  readonly endpointOf?: (name: string) => string | undefined
  readonly hasSandbox?: (name: string) => boolean
  readonly take: (ref: Ref, turn: string) => void
}

/** A request after its caller, parameters and body were checked. */
export interface Call<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly caller: Caller
  /** The conversation that the path names. */
  readonly ref: P extends { readonly session_id: string } ? Ref : undefined
  readonly method: string
  readonly header: (name: string) => string | undefined
  /** Aborts when the client leaves before its answer has ended. */
  readonly signal: AbortSignal
  /** Ends the request's count among its caller's open ones; for answers that stream. */
  readonly release: Release
}

export type RequestContext = Context<Env>
/** What `@hono/node-server` passes; empty behind `createHandler`, whose host owns the connection. */
export type Env = {
  Bindings: Partial<HttpBindings>
  /** Unset until the caller is known. */
  Variables: { role?: Role }
}

export interface Answer {
  readonly status?: number
  readonly body?: unknown
  /** Sent instead of a JSON body; `headers` must name its type. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Documented {
  readonly description: string
  readonly schema?: z.ZodType | Shape
  readonly type?: string
  readonly message?: Shape
}

export const TAGS = {
  Sessions: 'Conversations and their policies',
  Turns: 'Messages to the agent, and the work on them',
  Tasks: "A conversation's tasks",
  Search: 'What conversations hold, by words',
  Reviews: 'Proposals that a person confirms or cancels',
  Templates: 'Saved lists of tasks',
  Events: 'The log of a conversation',
  Toolsets: 'Tools for external agents',
  Tools: 'The MCP servers of the agent, and calls that wait for a person',
  Settings: 'Models and the policy of new conversations, as the page sets them',
  Login: 'How the page gets its token',
  Operation: 'Health, metrics and this document',
} as const
export type Tag = keyof typeof TAGS

/** What follows a route's method, path and role. */
export interface Definition<P = unknown, Q = unknown, B = unknown, N extends keyof Parts = keyof Parts> {
  /** Skips the Host and Origin check, for probes. */
  readonly public?: true
  /** The route is served only if this part exists. */
  readonly needs?: N
  readonly summary: string
  readonly params?: z.ZodType<P>
  readonly query?: z.ZodType<Q>
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType<B>
  readonly answers: Readonly<Record<number, Documented>>
  /** A method, not a property: bivariant parameters let different routes fit in one list. */
  handle(call: Call<P, Q, B>, deps: Deps & Pick<Parts, N>): Promise<Answer | Response>
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

interface Endpoint extends Definition {
  readonly method: Method
  readonly path: string
  /** The minimum role; a person may do all that an agent may. `none` needs no authentication. */
  readonly role: Role | 'none'
}

/** Both the server and the OpenAPI document are generated from these. */
export interface Route extends Endpoint {
  readonly operationId: string
  readonly tag: Tag
}

/** Infers the handler's types from the schemas next to it. */
export const route = <P, Q, B, N extends keyof Parts = never>(
  method: Method,
  path: string,
  role: Route['role'],
  definition: Definition<P, Q, B, N>,
): Endpoint => ({ method, path, role, ...(definition as Definition) })

/** Routes of one tag, by their operation ids. */
export const routes = (tag: Tag, endpoints: Readonly<Record<string, Endpoint>>): readonly Route[] =>
  Object.entries(endpoints).map(([operationId, endpoint]) => ({ ...endpoint, operationId, tag }))
