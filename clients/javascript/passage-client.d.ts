/** Types of passage-client. A test holds each contract's fields and codes to the API's OpenAPI document. */

/** The name of a contract: the shape of a profile's questions and answers. */
export type Contract = keyof Contracts

/** Each contract's question, answer and error codes. */
export interface Contracts {
  query_response: { question: QueryResponseQuestion; answer: QueryResponseAnswer; code: QueryResponseCode }
  vector_search: { question: VectorSearchQuestion; answer: VectorSearchAnswer; code: VectorSearchCode }
  context: { question: ContextQuestion; answer: ContextAnswer; code: ContextCode }
  ranked: { question: RankedQuestion; answer: RankedAnswer; code: RankedCode }
  chunks: { question: ChunksQuestion; answer: ChunksAnswer; code: ChunksCode }
}

/** The question. Send it under one of its names. `ask('…')` sends it as `question`. */
export interface Question {
  query?: string
  question?: string
}

/** How many passages to return. Send it under one of its names. */
export interface Count {
  k?: number
  top_k?: number
}

/** Options that every contract's question can have. A profile without payload indexes or positions has fewer. */
export interface AskOptions {
  /** What each field must be: a value, one of a list, within bounds, or text with a prefix. */
  filters?: Record<string, unknown>
  /** The language that passages must have, as in `en`. */
  language?: string
  /** The version of the site that passages must have, as in `2.1`. */
  version?: string
  /** The minimum similarity; 0 returns any passage. */
  score_threshold?: number
  /** How many of the best passages to skip. Send it with every page of a list, also 0. */
  offset?: number
  /** The most passages of one page of the site. */
  max_per_page?: number
  /** How much a passage's similarity to better ones counts against it, 0 to 1. */
  diversity?: number
  /** Whether passages with the same text are returned once. */
  unique?: boolean
  /** How many chunks before and after each passage `text_with_neighbors` has. */
  neighbors?: number
  /** Whether results come as the search ranks them, or by descending score. */
  order?: 'relevance' | 'score'
  /** Whether the answer explains itself in `debug`. The deployment must allow it. */
  debug?: boolean
}

export interface Answer {
  /** Why the answer is incomplete, for a person. Absent from a complete answer. */
  warnings?: string[]
  /** How the answer came about. Absent unless `debug` asks for it. */
  debug?: Debug
}

export interface Expandable {
  /** The text with that of the chunks around it. Absent unless `neighbors` asks for it. */
  text_with_neighbors?: string
}

export interface Debug {
  profile?: string
  collection?: string
  model?: string
  mode?: 'dense' | 'hybrid'
  fusion?: DebugFusion
  embedding_cached?: boolean | null
  times_ms?: Record<string, number>
  found?: Record<string, number>
  passages?: DebugPassage[]
}
export interface DebugFusion {
  weights?: number[]
  k?: number
}
export interface DebugPassage {
  id: number | string
  url?: string
  dropped?: string
  /** The rank and score in each stage: dense, text, fused, rerank, selection. */
  stages: Record<string, { rank: number; score: number }>
}

export interface QueryResponseQuestion extends Question, Count, AskOptions {
  text?: string
}
export interface QueryResponseAnswer extends Answer {
  query: string
  k: number
  results: QueryResponseResult[]
  total_results: number
  timestamp: string
}
export interface QueryResponseResult extends Expandable {
  chunk_text: string
  url: string
  chunk_id: string
  relevance_score: number
}
export type QueryResponseCode = 'INVALID_INPUT' | 'SERVICE_UNAVAILABLE' | 'INTERNAL_ERROR'

export interface VectorSearchQuestion extends Question, Count, AskOptions {
  query_text?: string
  query_vector?: number[]
  collection_name?: string
  with_vectors?: boolean
  with_payload?: boolean
}
export interface VectorSearchAnswer extends Answer {
  collection_name: string
  results: VectorSearchResult[]
  total_results: number
  timestamp: string
}
export interface VectorSearchResult extends Expandable {
  id: number | string
  score: number
  vector: number[] | null
  payload: Record<string, unknown>
  retrieval_time_ms: number
}
export type VectorSearchCode =
  | 'DIMENSION_MISMATCH' | 'COLLECTION_NOT_FOUND' | 'INVALID_PARAMETER' | 'CONNECTION_ERROR' | 'TIMEOUT'
  | 'EMBEDDING_ERROR' | 'INTERNAL_ERROR'

export interface ContextQuestion extends Question, Count, AskOptions {
  text?: string
  max_chars?: number
  max_tokens?: number
}
export interface ContextAnswer extends Answer {
  query: string
  chunks: ContextChunk[]
  count: number
  collection: string
  context: ContextText
}
export interface ContextChunk extends Expandable {
  text: string
  score: number
  source_url: string
  chapter: string
  section: string
  chunk_index: number
  title: string
  chunk_id: string
}
export interface ContextText {
  formatted_text: string
  chunk_count: number
  total_chars: number
  sources: string[]
}
export type ContextCode = 'EMPTY_QUERY' | 'INVALID_QUERY' | 'CONNECTION_ERROR' | 'COLLECTION_NOT_FOUND' | 'RATE_LIMIT'

export interface RankedQuestion extends Question, Count, AskOptions {
  text?: string
  query_id?: string
}
export interface RankedAnswer extends Answer {
  status: string
  query: RankedQuery
  results: RankedResult[]
  total_results: number
  requested_top_k: number
  execution_metrics: RankedMetrics
  error?: RankedError
}
export interface RankedQuery {
  text: string
  query_id: string
}
export interface RankedResult extends Expandable {
  chunk_id: string
  chunk_text: string
  similarity_score: number
  rank: number
  metadata: RankedMetadata
}
export interface RankedMetadata {
  source_url: string
  page_title: string
  section_headers: string[]
  chunk_index: number
  tokens: number
}
export interface RankedMetrics {
  query_embedding_time_ms?: number
  vector_search_time_ms?: number
  total_execution_time_ms: number
  embedding_model: string
  collection_name: string
}
export interface RankedError {
  code: RankedCode
  message: string
}
export type RankedCode =
  | 'INVALID_QUERY' | 'COHERE_CONNECTION_FAILED' | 'COHERE_RATE_LIMITED' | 'QDRANT_CONNECTION_FAILED'
  | 'QDRANT_TIMEOUT' | 'COLLECTION_NOT_FOUND' | 'DIMENSION_MISMATCH' | 'NO_RESULTS' | 'INTERNAL_ERROR'

export interface ChunksQuestion extends Question, Count, AskOptions {
  query_text?: string
  threshold?: number
  include_metadata?: boolean
}
export interface ChunksAnswer extends Answer {
  query: string
  results: ChunksResult[]
  metadata: ChunksMetadata
}
export interface ChunksResult extends Expandable {
  content: string
  url: string
  similarity_score: number
  position?: number
  chunk_id?: string
  created_at?: string | null
}
export interface ChunksMetadata {
  query_time_ms: number
  total_results: number
  timestamp: string
}
export type ChunksCode = 'INVALID_QUERY' | 'SERVICE_UNAVAILABLE' | 'TIMEOUT' | 'INTERNAL_ERROR'

export interface Chunk {
  id: number | string
  payload: Record<string, unknown>
  vector: number[] | null
  retrieval_time_ms: number
}
export interface CollectionInfo {
  name: string
  vector_size: number
  distance_metric: string
  points_count: number
  indexed_vectors_count: number
  status: 'green' | 'yellow' | 'red'
  embedding_model?: string | null
  search?: 'dense' | 'hybrid'
  notes?: string[]
  problems?: string[]
}
export interface Profiles {
  default: string
  profiles: Profile[]
}
export interface Profile {
  name: string
  contract: string
  collection: string
  dimension: number
  embedding_model: string
  query: string
}
export interface Feedback {
  /** The passage's URL, as the answer has it. */
  url: string
  helpful: boolean
  /** The profile that answered. Without it, the client's, else the default one. */
  profile?: string
  chunk_id?: string | number
  query_id?: string
  /** Logged only where the deployment logs question text, as is the comment. */
  question?: string
  comment?: string
}

export interface Options {
  /** The API's address, with its stage or base path: `https://….execute-api.eu-central-1.amazonaws.com/live`. */
  endpoint: string
  /** The profile to ask. Without it, the API's default one. */
  profile?: string
  /** Sent as `X-Api-Key`. A key in a web page is public: it only counts and limits requests. */
  key?: string
  /** Milliseconds for one call, its retries included. 30,000 without it. */
  timeout?: number
  /** How often a 429 or 503 is tried again, after the seconds that the API's Retry-After names. 2 without it. */
  retries?: number
  /** Further headers of each request. */
  headers?: Record<string, string>
  fetch?: typeof fetch
}

export interface CallOptions {
  signal?: AbortSignal
  /** Milliseconds for this call. */
  timeout?: number
}

export interface ProfileOptions extends CallOptions {
  /** Another profile than the client's. */
  profile?: string
}

/** A client of one Passage API. `C` is the contract of the profile that it asks. */
export class Passage<C extends Contract = 'query_response'> {
  constructor(options: Options)

  /** The passages for a question. Its fields are those of the profile's contract. Rejects with a PassageError. */
  ask(
    question: string | Contracts[C]['question'],
    options?: Contracts[C]['question'] & ProfileOptions
  ): Promise<Contracts[C]['answer']>

  /** One stored chunk, by its point id or by the chunk id of an answer. */
  chunk(id: string | number, options?: ProfileOptions & { withVectors?: boolean }): Promise<Chunk>

  /** The collection's metadata and its mismatches with the profile. */
  collection(options?: ProfileOptions): Promise<CollectionInfo>

  /** All profiles, and the name of the default one. */
  profiles(options?: CallOptions): Promise<Profiles>

  /** A reader's thumbs up or down for a passage. */
  feedback(feedback: Feedback, options?: CallOptions): Promise<void>
}

/** Any error of a call, except an abort: that one rejects with the signal's own reason. */
export class PassageError extends Error {
  /** The contract's code; null if the error is not the API's own. */
  code: Contracts[Contract]['code'] | null
  /** The HTTP status; null if no answer came. */
  status: number | null
  /** Seconds to wait, as the API's Retry-After says; null without one. */
  retryAfter: number | null
  /** The error's JSON; null if it is not JSON. */
  body: unknown
}

/** 400, 405, 413: the request is wrong. The message says what is allowed. */
export class InvalidRequest extends PassageError {}
/** 401, 403: the key is missing or wrong, or the gateway blocks the caller. */
export class Forbidden extends PassageError {}
/** 404: no such path, profile or chunk. */
export class NotFound extends PassageError {}
/** 429: too many requests, also after the retries. */
export class RateLimited extends PassageError {}
/** 500: the deployment is configured wrongly, or has a bug. */
export class ServerError extends PassageError {}
/** 502, 503: a service behind the API is down, also after the retries. */
export class Unavailable extends PassageError {}
/** 408, 504, or the client's own timeout: no answer came in time. */
export class TimedOut extends PassageError {}
/** No answer came: offline, refused by CORS, or not the API. */
export class NoAnswer extends PassageError {}
