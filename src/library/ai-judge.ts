import type { LanguageModel } from 'ai'
import { redactor } from '../core/text/redact.ts'
import { declaresSchemas } from '../engine/turn/given-models.ts'
import type { Judge } from '../engine/worker/judge.ts'
import { modelJudge } from '../engine/worker/model-judge.ts'

/** Options of `createJudge`. */
export interface JudgeOptions {
  /** An AI SDK model, preferably not the one that does the work. */
  readonly model: LanguageModel
  /** The name recorded with verdicts. Default: the model's id. */
  readonly name?: string
  /**
   * Whether the model supports structured output with a JSON schema. Default: only if it says so. If true, an ok has to
   * cite evidence.
   */
  readonly isStructured?: boolean
  /** Secrets to redact from stored errors, such as the model's key. */
  readonly secrets?: readonly string[]
}

/**
 * Creates a judge for `createRunsheet({ judge })`. In your own agent loops, where the policy's `assessor` is on, a
 * claim is granted only after this judge accepts it. The judge sees the plan, the checks and the tool calls reported as
 * evidence.
 */
export function createJudge({ model, name = nameOf(model), isStructured, secrets = [] }: JudgeOptions): Judge {
  const assessor = { name, model, isStructured: isStructured ?? declaresSchemas(model) }
  return modelJudge(assessor, { redact: redactor({ known: secrets }) })
}

const nameOf = (model: LanguageModel): string => (typeof model === 'string' ? model : model.modelId)
