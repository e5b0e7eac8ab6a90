import type { LanguageModel } from 'ai'
import type { Assessor } from '../worker/model-judge.ts'

/** The models that turns may name. The judge uses the same model or another. */
export interface Models {
  readonly names: readonly string[]
  /** For requests that name no model. */
  readonly defaultName: string
  /**
   * `endpoint`: where the model was reached when its turn began. Throws `UnknownModel` if it cannot be reached there.
   */
  named(name: string, endpoint?: string): LanguageModel | Promise<LanguageModel>
  assessorFor(name: string, endpoint?: string): Assessor | Promise<Assessor>
  providerOf(name: string): string | undefined
  /** The current endpoint of a model, as an opaque name. Absent or undefined if it never changes. */
  endpointOf?(name: string): string | undefined
}

/** Models passed in by a program. `isStructured` tells which are known to answer in a given JSON schema. */
export function givenModels(
  models: ReadonlyMap<string, LanguageModel>,
  defaultName: string,
  assessor?: string,
  isStructured: (name: string, model: LanguageModel) => boolean = (_, model) => declaresSchemas(model),
): Models {
  const named = (name: string): LanguageModel => {
    const model = models.get(name)
    if (!model)
      throw new UnknownModel(`The model ${name} is not configured. Available: ${[...models.keys()].join(', ')}.`)
    return model
  }
  return {
    names: [...models.keys()],
    defaultName,
    named,
    providerOf: name => {
      const model = models.get(name)
      return typeof model === 'object' ? model.provider : undefined
    },
    assessorFor: asked => {
      const name = assessor ?? asked
      const model = named(name)
      return { name, model, isStructured: isStructured(name, model) }
    },
  }
}

/** Only models of OpenAI-compatible providers declare it. */
export const declaresSchemas = (model: LanguageModel): boolean =>
  typeof model === 'object' && 'supportsStructuredOutputs' in model && model.supportsStructuredOutputs === true

export class UnknownModel extends Error {
  override readonly name = 'UnknownModel'
  readonly model: string | undefined

  constructor(message: string, model?: string) {
    super(message)
    this.model = model
  }
}

/** A model that is no longer reached where the turn began, because the settings changed. */
export class ModelChanged extends UnknownModel {}

/** A response that was cut off, because it would not fit into memory. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
  constructor(size: string) {
    super(`The model's provider sent too much: ${size}.`)
  }
}
