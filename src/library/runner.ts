import type { Models } from '../runner/models.ts'
import { givenTools, type OutsideTool, type OutsideTools } from '../runner/outside.ts'
import { Runner as Driver } from '../runner/runner.ts'
import { doorOf } from './door-of.ts'
import type { Runsheet } from './runsheet.ts'

export interface RunnerOptions {
  readonly runsheet: Runsheet
  /** The models that turns may name: `configuredModels` or `givenModels`. */
  readonly models: Models
  /** Tools besides those of the plan: your own, or those of MCP servers (`mcpTools`). */
  readonly tools?: readonly OutsideTool[] | OutsideTools
  /** The assistant's system prompt. */
  readonly instructions?: string
  /** Hears of turns that could not be driven. */
  readonly onError?: (error: unknown) => void
}

/** Drives turns until it is closed. */
export interface Runner {
  /** How many turns this runner drives now. */
  readonly size: number
  /** Lets go of its turns; another runner on the same store continues them. */
  close(): Promise<void>
}

/** Drives every turn that no other process drives: those that were started, and those that a crash left behind. */
export function createRunner({ runsheet, models, tools = [], instructions, onError }: RunnerOptions): Runner {
  const driver = new Driver({
    door: doorOf(runsheet),
    models,
    outside: 'list' in tools ? tools : givenTools(tools),
    ...(instructions === undefined ? {} : { instructions }),
    ...(onError ? { onError } : {}),
  })
  driver.start()
  return driver
}
