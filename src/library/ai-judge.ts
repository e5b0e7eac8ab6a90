import type { LanguageModel } from 'ai'
import { redactor } from '../domain/redact.ts'
import { claimJudge } from '../runner/claim-judge.ts'
import { givenModels } from '../runner/given-models.ts'
import { type Judge, keepJudge } from './handles.ts'

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
  const models = givenModels(
    new Map([[name, model]]),
    name,
    name,
    ...(isStructured === undefined ? [] : [() => isStructured]),
  )
  const judge: Judge = { model: name }
  keepJudge(judge, door => claimJudge({ door, models, redact: redactor({ known: secrets }) }))
  return judge
}

const nameOf = (model: LanguageModel): string => (typeof model === 'string' ? model : model.modelId)
