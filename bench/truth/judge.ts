import type { LanguageModelV4 } from '@ai-sdk/provider'
import { givenModels, type Models } from '../../src/engine/turn/given-models.ts'

export type Belief = 'everything' | 'nothing'

const SAYS: Record<Belief, string> = { everything: 'OK', nothing: 'NOT_OK: There is no proof of it.' }

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}

export function judgeThat(belief: Belief): Models {
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'bench',
    modelId: belief,
    supportedUrls: {},
    doGenerate: async () => ({
      content: [{ type: 'text', text: SAYS[belief] }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    }),
    doStream: async () => {
      throw new Error('not used')
    },
  }
  return givenModels(new Map([['judge', model]]), 'judge')
}
