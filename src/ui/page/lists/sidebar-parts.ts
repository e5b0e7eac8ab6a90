/** Parts of the conversation list that load soon after the first render, bundled in one file. */
import './sidebar-parts.css'

export { ArchivedList } from './archived-list.tsx'
export { download } from '../chat/download.ts'
export { FilingNotices } from './filing-notices.tsx'
export { RenameTitle } from './rename-title.tsx'
export { SearchResults } from './search-results.tsx'
export { SessionMenu } from './session-menu.tsx'
