/** Prefixes our texts to a host, so that our prompts can be told from a person's. */
export const GATE_MARK = 'RUNSHEET-GATE:'
export const DIGEST_MARK = 'RUNSHEET-DIGEST:'
