import type { LanguageModel } from 'ai'
import { redactor } from '../domain/redact.ts'
import { declaresSchemas } from '../runner/given-models.ts'
import type { Judge } from '../runner/judge.ts'
import { modelJudge } from '../runner/model-judge.ts'

/** What `createJudge` needs. */
export interface JudgeOptions {
  /** An AI SDK model. Best another than the one that works. */
  readonly model: LanguageModel
  /** The name that verdicts keep. Default: the model's id. */
  readonly name?: string
  /** Whether the model answers in a given JSON schema. Default: only if it says so. Then its ok has to cite evidence. */
  readonly isStructured?: boolean
  /** Your model's key and other secrets, so that no stored error has them. */
  readonly secrets?: readonly string[]
}

/**
 * A judge for `createRunsheet({ judge })`: where the policy's assessor is on, what a model settles in a loop of your own is
 * granted only after its ok. It sees the plan, the checks, and the tool calls that were reported as evidence.
 */
export function createJudge({ model, name = nameOf(model), isStructured, secrets = [] }: JudgeOptions): Judge {
  const assessor = { name, model, isStructured: isStructured ?? declaresSchemas(model) }
  return modelJudge(assessor, { redact: redactor({ known: secrets }) })
}

const nameOf = (model: LanguageModel): string => (typeof model === 'string' ? model : model.modelId)
