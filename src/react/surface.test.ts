import { expect, it } from 'vitest'
import * as react from './index.ts'

it('[LA6] `runsheet/react` exports exactly this', () => {
  expect(Object.keys(react).sort()).toEqual([
    'AutosizeTextarea',
    'FollowUps',
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
    'revisionOf',
    'turnsInOrder',
    'useConversation',
    'useEvidence',
    'useReview',
    'useRunsheet',
    'useSettings',
    'useStrings',
    'useTasks',
    'useThread',
  ])
})
