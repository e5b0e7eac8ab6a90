/** A shorter token could be guessed. Ours have 43 characters. */
export const MIN_TOKEN_LENGTH = 32
