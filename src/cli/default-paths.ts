import { homedir } from 'node:os'

/** The data folder, in the working folder. */
export const DEFAULT_DATA = '.runsheet'

/** The settings file, in the working folder. */
export const DEFAULT_CONFIG = 'runsheet.json'

/** MCP hosts start us without a shell that would expand it. */
export const expandHome = (path: string): string => path.replace(/^~(?=\/|$)/, homedir())
