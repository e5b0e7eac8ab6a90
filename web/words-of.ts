import type { ConversationStrings } from './conversation-strings.ts'
import { englishConversations } from './english-conversations.ts'
import type { PageStrings } from './page-strings.ts'

/** The texts of what is done with conversations, in the language of the page. */
export const wordsOf = (strings: PageStrings): ConversationStrings => strings.conversation ?? englishConversations
