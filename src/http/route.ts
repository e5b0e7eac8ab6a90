import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type * as z from 'zod'
import type { PolicyPatch } from '../domain/policy.ts'
import type { ModelView } from '../domain/wire.ts'
import type { Ref, Door } from '../door/door.ts'
import type { Credential, LoginCodes, Role } from './credentials.ts'
import type { Metrics } from './metrics.ts'
import type { Streams } from './sse/streams.ts'

/** What the routes stand on. */
export interface Desk {
  readonly door: Door
  readonly streams: Streams
  readonly metrics: Metrics
  readonly codes: LoginCodes
  readonly tokens: Readonly<Record<Role, string>>
  readonly models: readonly ModelView[]
  /** Who drives turns here, if anybody does. */
  readonly turns: Turns | undefined
  /** What new conversations get. */
  readonly host: PolicyPatch
  /** How long a tool call waits for a person before it is told to ask again. */
  readonly reviewWaitMs: number
  /** Ends when the server does. */
  readonly closing: AbortSignal
}

/** What serves `/mcp`, to whoever was let in. */
export type Mcp = (
  request: Request,
  incoming: { readonly role: Role; readonly body: unknown; readonly closed: AbortSignal },
) => Promise<Response>

/** What a server needs to know of those who drive turns. */
export interface Turns {
  /** The models that a request may name, and the one it gets if it names none. */
  readonly names: readonly string[]
  readonly usual: string
  /** A turn was started: somebody is to take it up. */
  readonly take: (ref: Ref, turn: string) => void
}

export interface Call<P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly who: Credential
  readonly header: (name: string) => string | undefined
  readonly context: Context<Env>
}
export type Env = { Bindings: HttpBindings }

export interface Answer {
  readonly status?: number
  readonly body?: unknown
  /** Instead of a body in JSON; `headers` say what it is. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Documented {
  readonly description: string
  readonly schema?: z.ZodType
  readonly type?: string
  /** What each message of a stream holds. */
  readonly message?: z.ZodType
}

/** Routes are grouped by these in the OpenAPI document. */
export const TAGS = {
  Sessions: 'Conversations and their policies',
  Turns: 'Messages to the agent and what it does about them',
  Tasks: "A conversation's tasks",
  Reviews: 'Proposals that a person confirms or cancels',
  Templates: 'Saved batches of tasks',
  Events: 'The log of a conversation',
  Toolsets: 'Tools for agents that run elsewhere',
  Login: "The page's way to its token",
  Operation: 'Health, metrics and this document',
} as const
export type Tag = keyof typeof TAGS

/** One route: who may ask, what it takes, what it answers. The server and the OpenAPI document are made from the same. */
export interface Route<P = unknown, Q = unknown, B = unknown> {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** With `:name` for what varies. */
  readonly path: string
  /** Its name in the OpenAPI document, for generated clients. */
  readonly operationId: string
  readonly tag: Tag
  /** Whose token it takes; `nobody` takes none. */
  readonly role: Role | 'nobody'
  /** Answers under any name and to any page: for probes. */
  readonly public?: true
  readonly summary: string
  readonly params?: z.ZodType<P>
  readonly query?: z.ZodType<Q>
  readonly headers?: z.ZodObject
  readonly body?: z.ZodType<B>
  readonly answers: Readonly<Record<number, Documented>>
  /** A method, so that routes of any parameters fit in one list. */
  handle(call: Call<P, Q, B>, desk: Desk): Promise<Answer | Response>
}

/** Keeps a route's schemas together with what its handler gets. */
export const route = <P, Q, B>(definition: Route<P, Q, B>): Route => definition
