"""Passage as a Haystack component: python haystack_component.py URL QUESTION"""

import sys

import httpx
from haystack import Document, Pipeline, component


@component
class PassageRetriever:
    def __init__(self, url: str) -> None:
        self.url = url

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int = 5) -> dict[str, list[Document]]:
        question = {"text": query, "k": top_k, "titles": True}
        answer = httpx.post(f"{self.url}/query", json=question, timeout=30).raise_for_status()
        found = answer.json()["results"]
        return {"documents": [Document(id=each["chunk_id"], content=each["chunk_text"], meta=each) for each in found]}


if __name__ == "__main__":
    pipeline = Pipeline()
    pipeline.add_component("passage", PassageRetriever(sys.argv[1]))
    for document in pipeline.run({"passage": {"query": sys.argv[2], "top_k": 3}})["passage"]["documents"]:
        print(document.meta["url"])
