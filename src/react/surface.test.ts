import { expect, it } from 'vitest'
import * as react from './index.ts'

it('[LA6] `runsheet/react` exports exactly this', () => {
  expect(Object.keys(react).sort()).toEqual([
    'AutosizeTextarea',
    'CutLine',
    'FollowUps',
    'PlanContinued',
    'PlanDecision',
    'ReviewPanel',
    'RunLine',
    'RunsheetProvider',
    'StatusIcon',
    'StringsContext',
    'ThreadStep',
    'Timeline',
    'TodosPanel',
    'ToolUse',
    'TurnResult',
    'chinese',
    'english',
    'errorText',
    'isComposing',
    'localeOf',
    'plainMarkdown',
    'revisionOf',
    'turnsInOrder',
    'useConversation',
    'useEvidence',
    'useReview',
    'useRunsheet',
    'useSteering',
    'useStrings',
    'useTasks',
    'useThread',
  ])
})
