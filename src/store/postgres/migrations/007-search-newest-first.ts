/**
 * The words of all documents, so that the beginning of a word can be looked up as the words it stands for, and how many
 * documents have each, so that a search can go by the rarest. `lexemes` change with it (`search-lexemes.ts`), so all is indexed
 * again; statistics on them are of no use to the planner and most of the work of an ANALYZE.
 */
export const searchNewestFirst = `
  CREATE TABLE runsheet.search_words (
    lexeme text COLLATE "C" PRIMARY KEY,
    -- At least as many as there are, but counted up to a limit only.
    documents integer NOT NULL
  ) WITH (fillfactor = 70);
  ALTER TABLE runsheet.search_documents ALTER COLUMN lexemes SET STATISTICS 0;
  UPDATE runsheet.search_state SET version = 0;
`
