"""An example question and answer for each contract and an example of feedback, for the OpenAPI document."""

from typing import Any

TEXT = "A digital twin is a virtual representation of a physical asset, kept in step with it by data."
URL = "https://example.com/docs/digital-twin"
QUESTION = "What is a digital twin?"
ASKED_AT = "2026-01-15T10:30:00Z"

FEEDBACK = {"url": URL, "helpful": True, "chunk_id": "123456789_0", "question": QUESTION}

QUESTIONS: dict[str, dict[str, Any]] = {
    "query_response": {"text": QUESTION, "k": 5},
    "vector_search": {"query_text": QUESTION, "top_k": 5, "filters": {"source_url": URL}},
    "context": {"text": QUESTION, "k": 5},
    "ranked": {"text": QUESTION, "query_id": "q_1", "top_k": 5},
    "chunks": {"query_text": QUESTION, "top_k": 5, "threshold": 0.3, "include_metadata": True},
}

ANSWERS: dict[str, dict[str, Any]] = {
    "query_response": {
        "query": QUESTION,
        "k": 5,
        "results": [{"chunk_text": TEXT, "url": URL, "chunk_id": "123456789_0", "relevance_score": 0.72}],
        "total_results": 1,
        "timestamp": ASKED_AT,
    },
    "vector_search": {
        "collection_name": "textbook_embeddings",
        "results": [
            {
                "id": 123456789,
                "score": 0.72,
                "vector": None,
                "payload": {"content": TEXT, "source_url": URL, "chunk_index": 0},
                "retrieval_time_ms": 12.5,
            }
        ],
        "total_results": 1,
        "timestamp": ASKED_AT,
    },
    "context": {
        "query": QUESTION,
        "chunks": [
            {
                "text": TEXT,
                "score": 0.72,
                "source_url": URL,
                "chapter": "digital-twins",
                "section": "Definition",
                "chunk_index": 0,
                "title": "What is a digital twin?",
                "chunk_id": "123456789",
            }
        ],
        "count": 1,
        "collection": "textbook_chunks",
        "context": {
            "formatted_text": f"[Result 1] Score: 0.72\nSource: {URL}\n"
            f"Title: What is a digital twin? | Chapter: digital-twins | Section: Definition\n---\n{TEXT}",
            "chunk_count": 1,
            "total_chars": 244,
            "sources": [URL],
        },
    },
    "ranked": {
        "status": "success",
        "query": {"text": QUESTION, "query_id": "q_1"},
        "results": [
            {
                "chunk_id": "123456789",
                "chunk_text": TEXT,
                "similarity_score": 0.72,
                "rank": 1,
                "metadata": {
                    "source_url": URL,
                    "page_title": "What is a digital twin?",
                    "section_headers": ["What is a digital twin?", "Definition"],
                    "chunk_index": 0,
                    "tokens": 22,
                },
            }
        ],
        "total_results": 1,
        "requested_top_k": 5,
        "execution_metrics": {
            "query_embedding_time_ms": 80.1,
            "vector_search_time_ms": 12.5,
            "total_execution_time_ms": 93.0,
            "embedding_model": "embed-english-v3.0",
            "collection_name": "textbook_passages",
        },
    },
    "chunks": {
        "query": QUESTION,
        "results": [
            {
                "content": TEXT,
                "url": URL,
                "similarity_score": 0.72,
                "position": 0,
                "chunk_id": "123456789",
                "created_at": ASKED_AT,
            }
        ],
        "metadata": {"query_time_ms": 93, "total_results": 1, "timestamp": ASKED_AT},
    },
}
