// oxlint-disable-next-line import/no-unassigned-import -- A program that lacks AI SDK fails here, not in its first turn.
import 'ai'
import type { LanguageModel } from 'ai'
import { redactor } from '../core/text/redact.ts'
import { exceptStorage } from '../engine/door/door.ts'
import { givenModels } from '../engine/turn/given-models.ts'
import { givenTools, type OutsideTool, type OutsideTools } from '../engine/worker/outside.ts'
import { Worker } from '../engine/worker/worker.ts'
import { insideOf } from './handles.ts'
import type { Runsheet } from './runsheet.ts'

export { demoModel } from '../demo/model.ts'
export { mcpTools } from '../engine/turn/mcp-tools.ts'
export type { McpOptions, McpServer } from '../engine/turn/mcp-tools.ts'
export type { Secrets } from '../core/text/redact.ts'
export type { CallIds, OutsideTool, OutsideTools } from '../engine/worker/outside.ts'

/** Options of `createRunner`. */
export interface RunnerOptions {
  /** The plans to work on. */
  readonly runsheet: Runsheet
  /** The AI SDK models that turns may name: `{ 'gpt-5': openai('gpt-5') }`. The first is the default. */
  readonly models: Readonly<Record<string, LanguageModel>>
  /** The name of the model that judges claims. Default: the turn's own. */
  readonly assessor?: string
  /** Tools besides the planning tools: your own, or those of MCP servers (`mcpTools`). */
  readonly tools?: readonly OutsideTool[] | OutsideTools
  /** The assistant's system prompt. */
  readonly instructions?: string
  /**
   * Secrets to redact from stored errors and tool results, such as your models' keys. Secrets of `mcpTools` and common
   * patterns such as `sk-…` are redacted anyway. Secrets shorter than 8 characters are ignored.
   */
  readonly secrets?: readonly string[]
  /** Receives errors of turns that could not be driven; a storage failure once until storage works again. */
  readonly onError?: (error: unknown) => void
}

/** Drives turns until it is closed. */
export interface Runner {
  /** How many turns this runner drives now. */
  readonly size: number
  /** The names of its models, and the default for turns that name none. */
  readonly models: { readonly names: readonly string[]; readonly defaultName: string }
  /** Releases its turns; another runner on the same store continues them. */
  close(): Promise<void>
}

/** Drives every turn that no other process drives: started turns, and turns that a crash left behind. */
export function createRunner(options: RunnerOptions): Runner {
  const { runsheet, tools = [], instructions, secrets = [], onError } = options
  const models = checkedModels(options)
  const outside = 'list' in tools ? tools : givenTools(tools)
  const { door, workspaces } = insideOf(runsheet)
  const worker = new Worker({
    door,
    workspaces,
    drivesOnly: true,
    models,
    outside,
    redact: redactor({ ...outside.secrets, known: [...secrets, ...(outside.secrets?.known ?? [])] }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(onError ? { onError: exceptStorage(onError) } : {}),
  })
  const unobserve = door.observeStorage(report => {
    if (report.kind === 'failed') onError?.(report.error)
  })
  worker.start()
  return {
    get size() {
      return worker.size
    },
    models: { names: models.names, defaultName: models.defaultName },
    close: () => {
      unobserve()
      return worker.close()
    },
  }
}

function checkedModels({ models, assessor }: RunnerOptions): ReturnType<typeof givenModels> {
  const [defaultName] = Object.keys(models)
  if (defaultName === undefined) throw new TypeError('createRunner needs at least one model: models: { name: model }')
  if (assessor !== undefined && !Object.hasOwn(models, assessor)) {
    throw new TypeError(`The assessor ${assessor} is none of the models: ${Object.keys(models).join(', ')}`)
  }
  return givenModels(new Map(Object.entries(models)), defaultName, assessor)
}
