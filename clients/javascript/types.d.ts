/** The API's questions, answers and error codes. Written from its OpenAPI document by `make openapi`: do not edit. */

/** Each contract's question, answer and error codes. */
export interface Contracts {
  chunks: { question: ChunksQuestion; answer: ChunksAnswer; code: ChunksCode }
  context: { question: ContextQuestion; answer: ContextAnswer; code: ContextCode }
  query_response: { question: QueryResponseQuestion; answer: QueryResponseAnswer; code: QueryResponseCode }
  ranked: { question: RankedQuestion; answer: RankedAnswer; code: RankedCode }
  vector_search: { question: VectorSearchQuestion; answer: VectorSearchAnswer; code: VectorSearchCode }
}

export type ChunksCode =
  | 'INVALID_QUERY'
  | 'SERVICE_UNAVAILABLE'
  | 'TIMEOUT'
  | 'INTERNAL_ERROR'

export type ContextCode =
  | 'EMPTY_QUERY'
  | 'INVALID_QUERY'
  | 'CONNECTION_ERROR'
  | 'COLLECTION_NOT_FOUND'
  | 'RATE_LIMIT'

export type QueryResponseCode =
  | 'INVALID_INPUT'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_ERROR'

export type RankedCode =
  | 'INVALID_QUERY'
  | 'COHERE_CONNECTION_FAILED'
  | 'COHERE_RATE_LIMITED'
  | 'QDRANT_CONNECTION_FAILED'
  | 'QDRANT_TIMEOUT'
  | 'COLLECTION_NOT_FOUND'
  | 'DIMENSION_MISMATCH'
  | 'NO_RESULTS'
  | 'INTERNAL_ERROR'

export type VectorSearchCode =
  | 'DIMENSION_MISMATCH'
  | 'COLLECTION_NOT_FOUND'
  | 'INVALID_PARAMETER'
  | 'CONNECTION_ERROR'
  | 'TIMEOUT'
  | 'EMBEDDING_ERROR'
  | 'INTERNAL_ERROR'

/** Options that every contract's question can have. */
export interface AskOptions {
  /** What each field must be: a value, one of a list, within bounds, or text with a prefix. */
  filters?: Record<string, unknown>
  /** The language that passages must have, as in `en`. Send it or `filters.language`, not both. */
  language?: string
  /** The version of the site that passages must have, as in `2.1`. Send it or `filters.version`, not both. */
  version?: string
  /** How many of the best passages to skip. Send it with every page of a list, also 0. */
  offset?: number
  /** The most passages of one page: a URL without its fragment. */
  max_per_page?: number
  /** How much a passage's similarity to better ones counts against it. */
  diversity?: number
  /** Whether passages with the same text are returned once. */
  unique?: boolean
  /** Whether each section is returned once: its best passage stands for the others. */
  by_section?: boolean
  /** How many chunks before and after each passage, on its page, `text_with_neighbors` has. */
  neighbors?: number
  /** Whether each passage has its page's `title` and its `headings`. */
  titles?: boolean
  /** Whether results come as the search ranks them, or by descending score. */
  order?: 'relevance' | 'score'
  /** `words` searches by words alone, `titles` in titles by what was typed so far. Scores are then 0. */
  search?: 'words' | 'titles'
  /** Whether each passage has its `fit`: how well it fits, beside other subjects' questions. */
  fit?: boolean
  /** Whether the answer explains itself in `debug`. The deployment must allow it. */
  debug?: boolean
}

export interface DebugPlace {
  rank: number
  /** When fused: balance * vectors + (1 - balance) * words. */
  score: number
  /** When fused: the similarity on a scale from the lowest, 0, to 1. */
  vectors?: number
  /** When fused: the BM25 score as a share of the highest. */
  words?: number
}

export interface DebugPassage {
  id: number | string
  /** Of a candidate. */
  url?: string
  /** Why the passage is not in the answer. */
  dropped?: string
  /** By stage: dense, text, fused, rerank, selection. */
  stages: Record<string, DebugPlace>
}

/** How an answer came about. */
export interface Debug {
  profile: string
  collection: string
  /** The model that embedded the question; empty without a vector. */
  model: string
  mode: 'dense' | 'hybrid' | 'words' | 'titles'
  /** Of a hybrid search: how much vectors count against words, 0 to 1. */
  balance?: number
  /** Null if the question was not embedded. */
  embedding_cached: boolean | null
  /** Milliseconds of each step. */
  times_ms: Record<string, number>
  /** Passages found by each stage. */
  found: Record<string, number>
  /** Those of the answer first, then the other candidates, then what else a stage found. */
  passages: DebugPassage[]
}

/** What every contract's answer can have. */
export interface AnyAnswer {
  /** Why the answer is incomplete, or which fields were ignored. Absent without such a reason. */
  warnings?: string[]
  /** How the answer came about. Absent unless `debug` asks for it. */
  debug?: Debug
}

/** A question. Its limits are the profile's. */
export interface ChunksQuestion extends AskOptions {
  /** The natural language question. Also called `query` or `question`. */
  query_text: string
  /** How many chunks to return. By default 5. Also called `k`. */
  top_k?: number
  /** The minimum similarity; 0 returns any chunk, `noise` those above the noise. Also called `score_threshold`. */
  threshold?: number | 'noise'
  /** Whether results carry position, chunk_id and created_at. By default true. */
  include_metadata?: boolean
}

/** Without metadata, the last three are left out. */
export interface ChunksRetrievedChunk {
  /** The text with that of the chunks around it. Absent unless `neighbors` asks for it. */
  text_with_neighbors?: string
  /** The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it. */
  headings?: string[]
  /** How well it fits the question; `none` means no answer. Absent unless asked for. */
  fit?: 'strong' | 'good' | 'weak' | 'none'
  /** Its page's title; empty if none is stored. Absent unless `titles` asks for it. */
  title?: string
  content: string
  url: string
  /** Cosine similarity or, where passages are reranked, relevance; clipped to 0…1. */
  similarity_score: number
  /** The chunk's place on its page, from 0. */
  position?: number
  /** The point's id. */
  chunk_id?: string
  /** When it was stored: UTC, ISO 8601; null if unknown. */
  created_at?: string | null
}

export interface ChunksMetadata {
  query_time_ms: number
  total_results: number
  /** When the question was asked: UTC, ISO 8601. */
  timestamp: string
}

export interface ChunksAnswer extends AnyAnswer {
  query: string
  /** Best first. */
  results: ChunksRetrievedChunk[]
  metadata: ChunksMetadata
}

/** A question. Its limits are the profile's. */
export interface ContextQuestion extends AskOptions {
  /** The natural language question. Also called `query` or `question`. */
  text: string
  /** How many chunks to retrieve. By default 5. Outside 3 to 8, the nearest limit counts. Also called `top_k`. */
  k?: number
  /** The most characters the context may have. Chunks beyond it are left out. */
  max_chars?: number
  /** The same in tokens, estimated at four characters each. */
  max_tokens?: number
  /** The minimum similarity; 0 returns any passage, `noise` those above the noise. */
  score_threshold?: number | 'noise'
}

export interface ContextRetrievedChunk {
  /** The text with that of the chunks around it. Absent unless `neighbors` asks for it. */
  text_with_neighbors?: string
  /** The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it. */
  headings?: string[]
  /** How well it fits the question; `none` means no answer. Absent unless asked for. */
  fit?: 'strong' | 'good' | 'weak' | 'none'
  text: string
  /** Cosine similarity or, where passages are reranked, relevance; clipped to 0…1. */
  score: number
  source_url: string
  /** Empty when the chunk has none. */
  chapter: string
  /** Empty when the chunk has none. */
  section: string
  chunk_index: number
  /** Empty when the page has none. */
  title: string
  chunk_id: string
}

export interface ContextAssembledContext {
  formatted_text: string
  /** How many chunks the context holds. */
  chunk_count: number
  total_chars: number
  /** The context's pages, each once, in order of first appearance. */
  sources: string[]
}

export interface ContextAnswer extends AnyAnswer {
  query: string
  /** Best first. */
  chunks: ContextRetrievedChunk[]
  count: number
  collection: string
  context: ContextAssembledContext
}

/** A question. Its limits are the profile's. */
export interface QueryResponseQuestion extends AskOptions {
  /** The natural language question. Also called `query` or `question`. */
  text: string
  /** How many passages to return. By default 5. Also called `top_k`. */
  k?: number
  /** The minimum similarity; 0 returns any passage, `noise` those above the noise. */
  score_threshold?: number | 'noise'
}

export interface QueryResponseResult {
  /** The text with that of the chunks around it. Absent unless `neighbors` asks for it. */
  text_with_neighbors?: string
  /** The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it. */
  headings?: string[]
  /** How well it fits the question; `none` means no answer. Absent unless asked for. */
  fit?: 'strong' | 'good' | 'weak' | 'none'
  /** Its page's title; empty if none is stored. Absent unless `titles` asks for it. */
  title?: string
  /** The passage, exactly as stored. */
  chunk_text: string
  /** The URL of its page, exactly as stored. */
  url: string
  /** The point's id and the passage's index in its page, joined by an underscore. */
  chunk_id: string
  /** Cosine similarity or, where passages are reranked, relevance; clipped to 0…1. */
  relevance_score: number
}

export interface QueryResponseAnswer extends AnyAnswer {
  /** The question as sent. */
  query: string
  /** How many passages were asked for. */
  k: number
  /** Best first. */
  results: QueryResponseResult[]
  /** How many passages `results` has. */
  total_results: number
  /** When the question was asked: UTC, ISO 8601. */
  timestamp: string
}

/** A question. Its limits are the profile's. */
export interface RankedQuestion extends AskOptions {
  /** The natural language question, in the language of the collection's model. Also called `query` or `question`. */
  text: string
  /** How many results to return. By default 5. Also called `k`. */
  top_k?: number
  /** The caller's id for the question; generated when absent. */
  query_id?: string
  /** The minimum similarity; 0 returns any passage, `noise` those above the noise. */
  score_threshold?: number | 'noise'
}

export interface RankedQueryEcho {
  text: string
  query_id: string
}

export interface RankedMetadata {
  source_url: string
  page_title: string
  /** The headings above the chunk, outermost first. */
  section_headers: string[]
  chunk_index: number
  /** The chunk's approximate number of tokens. */
  tokens: number
}

export interface RankedSearchResult {
  /** The text with that of the chunks around it. Absent unless `neighbors` asks for it. */
  text_with_neighbors?: string
  /** The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it. */
  headings?: string[]
  /** How well it fits the question; `none` means no answer. Absent unless asked for. */
  fit?: 'strong' | 'good' | 'weak' | 'none'
  /** Its page's title; empty if none is stored. Absent unless `titles` asks for it. */
  title?: string
  chunk_id: string
  chunk_text: string
  /** Cosine similarity or, where passages are reranked, relevance; clipped to 0…1. */
  similarity_score: number
  rank: number
  metadata: RankedMetadata
}

/** Milliseconds. After an error, only the known values. */
export interface RankedExecutionMetrics {
  query_embedding_time_ms?: number
  vector_search_time_ms?: number
  total_execution_time_ms: number
  embedding_model: string
  collection_name: string
}

export interface RankedErrorDetail {
  code: RankedCode
  message: string
}

/** With `status` "error", `error` is present and `results` is empty; with "success", the reverse. */
export interface RankedAnswer extends AnyAnswer {
  status: 'success' | 'error'
  query: RankedQueryEcho
  results: RankedSearchResult[]
  total_results: number
  requested_top_k: number
  execution_metrics: RankedExecutionMetrics
  error?: RankedErrorDetail
}

/** A question as text or as a vector: exactly one of the two. */
export interface VectorSearchQuestion extends AskOptions {
  /** The question as text. Also called `query` or `question`. */
  query_text?: string
  /** How many points to return. By default 10. Also called `k`. */
  top_k?: number
  /** The collection to search. It must be one this deployment serves; by default the profile's. */
  collection_name?: string
  /** The question embedded with the collection's model. */
  query_vector?: number[]
  /** The minimum similarity; 0 returns any point, `noise` those above the noise. */
  score_threshold?: number | 'noise'
  /** Whether results carry their vectors. By default false. */
  with_vectors?: boolean
  /** Whether results carry their payload. By default true. */
  with_payload?: boolean
}

export interface VectorSearchRetrievalResult {
  /** The text with that of the chunks around it. Absent unless `neighbors` asks for it. */
  text_with_neighbors?: string
  /** The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it. */
  headings?: string[]
  /** How well it fits the question; `none` means no answer. Absent unless asked for. */
  fit?: 'strong' | 'good' | 'weak' | 'none'
  /** Its page's title; empty if none is stored. Absent unless `titles` asks for it. */
  title?: string
  /** The point's id; an integer of 2^53 or more as text. */
  id: number | string
  /** Cosine similarity or, where passages are reranked, relevance; clipped to 0…1. */
  score: number
  /** The point's vector; null unless with_vectors is true. */
  vector: number[] | null
  /** The point's whole payload; empty if with_payload is false. */
  payload: Record<string, unknown>
  /** Milliseconds the search took. */
  retrieval_time_ms: number
}

export interface VectorSearchAnswer extends AnyAnswer {
  collection_name: string
  /** Best first. */
  results: VectorSearchRetrievalResult[]
  total_results: number
  /** When the question was asked: UTC, ISO 8601. */
  timestamp: string
}

export interface Chunk {
  id: number | string
  /** 1: the id matches. */
  score: number
  payload: Record<string, unknown>
  vector: number[] | null
  retrieval_time_ms: number
}

/** The best similarities of other subjects' questions: the median, and what nine of ten miss. */
export interface Noise {
  p50: number
  p90: number
}

export interface CollectionInfo {
  name: string
  /** 0 without vectors. */
  vector_size: number
  /** Empty without vectors. */
  distance_metric: string
  points_count: number
  indexed_vectors_count: number
  status: 'green' | 'yellow' | 'red'
  embedding_model?: string | null
  /** By vectors alone, also by words, or by words alone. */
  search?: 'dense' | 'hybrid' | 'words'
  /** Why the collection is not searched as the profile says, and what would change that. */
  notes?: string[]
  noise?: Noise | null
  /** Where collection and profile disagree. */
  problems?: string[]
}

export interface Profile {
  name: string
  contract: string
  collection: string
  dimension: number
  embedding_model: string
  /** The path that queries it. */
  query: string
}

export interface ProfileList {
  default: string
  profiles: Profile[]
}

/** Whether a passage answered its question. Unknown fields are ignored, as in a question. */
export interface Feedback {
  /** The passage's URL, as the answer has it. */
  url: string
  /** True for thumbs up, false for thumbs down. */
  helpful: boolean
  /** The profile that answered; else the default one. */
  profile?: string
  /** The passage's id, as the answer has it. */
  chunk_id?: string | number
  /** The caller's id of the question. */
  query_id?: string
  /** The question. Logged only where the deployment logs question text. */
  question?: string
  /** The reader's words. Logged only where the deployment logs question text. */
  comment?: string
}
