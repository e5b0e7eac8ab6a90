import type { LanguageModel } from 'ai'
import type { Assessor } from './model-judge.ts'
import { UnknownModel } from './model-errors.ts'

/** The models that turns may name. The assessor is the same model, or another. */
export interface Models {
  readonly names: readonly string[]
  /** For requests that name no model. */
  readonly defaultName: string
  /** `endpoint`: where it was reached when its turn began. Throws `UnknownModel` if it cannot be reached there. */
  named(name: string, endpoint?: string): LanguageModel | Promise<LanguageModel>
  assessorFor(name: string, endpoint?: string): Assessor | Promise<Assessor>
  /** The provider of a model, as AI SDK names it. */
  providerOf(name: string): string | undefined
  /** Where a model is reached now, as an opaque name. Absent, or undefined, if that does not change. */
  endpointOf?(name: string): string | undefined
}

/** Models that a program passes in. `isStructured` says which are known to answer in a given JSON schema. */
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

/** Only some models say so: those of OpenAI-compatible providers. */
export const declaresSchemas = (model: LanguageModel): boolean =>
  typeof model === 'object' && 'supportsStructuredOutputs' in model && model.supportsStructuredOutputs === true
