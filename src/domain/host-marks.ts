/** How our texts to a host begin: prompts that are ours can be told from a person's. */
export const GATE_MARK = 'RUNSHEET-GATE:'
export const DIGEST_MARK = 'RUNSHEET-DIGEST:'
