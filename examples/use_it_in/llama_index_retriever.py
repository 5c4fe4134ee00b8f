"""Passage as a LlamaIndex retriever: python llama_index_retriever.py URL QUESTION"""

import sys

import httpx
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode


class PassageRetriever(BaseRetriever):
    def __init__(self, url: str, k: int = 5) -> None:
        self.url, self.k = url, k
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = {"text": query_bundle.query_str, "k": self.k, "titles": True}
        answer = httpx.post(f"{self.url}/query", json=question, timeout=30).raise_for_status()
        found = answer.json()["results"]
        nodes = [TextNode(id_=each["chunk_id"], text=each["chunk_text"], metadata=each) for each in found]
        return [NodeWithScore(node=node, score=node.metadata["relevance_score"]) for node in nodes]


if __name__ == "__main__":
    for found in PassageRetriever(sys.argv[1], k=3).retrieve(sys.argv[2]):
        print(found.metadata["url"])
