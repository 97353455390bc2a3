"""Which of the models in use cost, and what: for the estimate before an upload."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from citewell.adapters import registry
from citewell.composition.configured import embedding_rates
from citewell.composition.recorded import settings_of
from citewell.features.estimates.service import EstimateService
from citewell.indexes.absent import AbsentEmbedder
from citewell.indexes.index_set import IndexSet, OpenIndex
from citewell.ingest.estimating import PaidEmbedding, PaidModel, PaidModels
from citewell.ports import RemoteEmbedder
from citewell.settings import NoChat, NoVision, RemoteEmbedding, Settings
from citewell.settings.values import is_loopback
from citewell.storage.database import Database
from citewell.storage.files.densities import DensityRepository
from citewell.storage.spending.provider_calls import ProviderCallRepository


def estimate_service(settings: Settings, database: Database, indexes: IndexSet) -> EstimateService:
    """The service over the models in use."""
    paid = PaidModelsInUse(settings=settings, database=database, indexes=indexes)
    return EstimateService(densities=DensityRepository(database), paid=paid)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidModelsInUse:
    """Says which models an upload is charged for now: those of every open index, and the configured chat and vision models.

    A model at an address of this machine costs nothing, unless the settings have a price of it.
    """

    settings: Settings
    database: Database
    indexes: IndexSet

    async def __call__(self) -> PaidModels:
        """The models and what may still be spent."""
        settings, most = self.settings, self.settings.usage.max_spend
        embeddings = [self._embedding(index) for index in self.indexes.all]
        return PaidModels(
            embeddings=tuple(one for one in embeddings if one is not None),
            vision=self._vision(),
            chat=self._chat() if settings.summaries.tokens else None,
            summary_tokens=settings.summaries.tokens,
            max_dense_rows=settings.chunking.max_dense_rows,
            max_spend=most,
            left=None if most is None else most - await ProviderCallRepository(self.database).spent(),
        )

    def _embedding(self, index: OpenIndex) -> PaidEmbedding | None:
        if isinstance(index.embedder, AbsentEmbedder):
            return None
        chosen, name = settings_of(self.settings, index.record.settings), index.embedder.fingerprint
        if not isinstance(chosen.embedding, RemoteEmbedding) or self._is_free(name.model, chosen.embedding.base_url):
            return None
        adapter = registry.build_embedder(chosen.embedding)
        assert isinstance(adapter, RemoteEmbedder)
        return PaidEmbedding(
            provider=name.provider,
            model=name.model,
            fingerprint=str(name),
            limits=adapter.limits,
            rates=embedding_rates(chosen, name.model),
        )

    def _chat(self) -> PaidModel | None:
        chat = self.settings.chat
        if isinstance(chat, NoChat) or chat.missing_key is not None:
            return None
        return self._paid(chat.provider, chat.model or chat.usual_model, chat.base_url)

    def _vision(self) -> PaidModel | None:
        vision = self.settings.vision
        if isinstance(vision, NoVision) or vision.missing_key is not None:
            return None
        return self._paid(vision.provider, vision.chosen_model or vision.usual_model, vision.base_url)

    def _paid(self, provider: str, model: str, address: str | None) -> PaidModel | None:
        if self._is_free(model, address):
            return None
        prices = self.settings.usage.prices.get(model)
        return PaidModel(
            provider=provider, model=model, prices=None if prices is None else (prices[0] / 1e6, prices[1] / 1e6)
        )

    def _is_free(self, model: str, address: str | None) -> bool:
        host = urlsplit(str(address)).hostname if address is not None else None
        return host is not None and is_loopback(host) and model not in self.settings.usage.prices
